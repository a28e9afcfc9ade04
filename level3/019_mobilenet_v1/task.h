// MobileNet v1 in training mode: every batch norm uses the statistics of its batch.
// x: [batch_size, input_channels, height, width]; y: [batch_size, num_classes]; all tensors
// row-major. C(n) = alpha * n, rounded towards zero, channels. 14 layers, "model.0" to "model.13":
//   model.0: x = relu(.1(.0(x)))                  .0: 3x3, stride 2, padding 1, to C(32)
//   the others: x = relu(.1(.0(x)))               .0: 3x3, stride 1 or 2, padding 1, each channel
//                                                 by itself
//               x = relu(.4(.3(x)))               .3: 1x1; .1 and .4 are batch norms
// The layers 1 to 13 go to C(64), C(128) twice, C(256) twice, C(512) six times, C(1024) twice;
// layers 2, 4, 6 and 12 have stride 2. Then the means of windows of 7x7 with stride 7, of which
// height and width leave one, and y = fc(x) = x * transpose(weight) + bias. Convolutions have no
// bias. Batch norm of a channel: (x - mean) / sqrt(var + 1e-5) * weight + bias, with mean and var
// over batch, height and width, var without Bessel's correction.
// Weights: "model.0.0.weight" [C(32), input_channels, 3, 3], "model.0.1.weight", "model.0.1.bias",
// "model.1.0.weight" [C(32), 1, 3, 3], "model.1.1.weight", "model.1.1.bias", "model.1.3.weight"
// [C(64), C(32), 1, 1], "model.1.4.weight", "model.1.4.bias", ..., "fc.weight" [num_classes,
// C(1024)], "fc.bias" [num_classes].
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 10, input_channels = 3, height = 224, width = 224, num_classes = 1000;
  double alpha = 1.0;
  KB_FIELDS(batch_size, input_channels, height, width, num_classes, alpha)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
