// A RegNet of three stages in training mode: every batch norm uses the statistics of its batch.
// x: [batch_size, input_channels, image_height, image_width]; y: [batch_size, output_classes]; all
// tensors row-major. A stage to block_widths[i] channels, for i = 0, 1, 2:
//   x = relu(batch_norm(conv(x))), twice     conv: 3x3, padding 1, with bias
//   x = max_pool(x)                          windows of 2x2 with stride 2
// Then y = fc(mean of x over height and width), fc(x) = x * transpose(weight) + bias.
// Batch norm of a channel: (x - mean) / sqrt(var + 1e-5) * weight + bias,
// with mean and var over batch, height and width, var without Bessel's correction.
// Weights of stage i: "feature_extractor.<i>.0.weight" [block_widths[i], in_channels, 3, 3] and
// ".0.bias" of the first convolution, ".1.weight" and ".1.bias" of its batch norm, ".3.weight" and
// ".3.bias" of the second, ".4.weight" and ".4.bias" of its batch norm; then "fc.weight"
// [output_classes, block_widths[2]], "fc.bias" [output_classes].
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 8, input_channels = 3, image_height = 224, image_width = 224;
  std::array<int64_t, 3> block_widths = {64, 128, 256};
  int64_t output_classes = 10;
  KB_FIELDS(batch_size, input_channels, image_height, image_width, block_widths, output_classes)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
