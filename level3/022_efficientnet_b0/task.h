// EfficientNet-B0 without squeeze-excite, in training mode: batch norms use their batch's
// statistics.
// x: [batch_size, 3, height, width]; y: [batch_size, num_classes]; all tensors row-major.
// Channels are divided by width_div (integer division): C(n) = n / width_div.
//   x = relu(bn1(conv1(x)))                      conv1: 3x3, stride 2, padding 1, to C(32)
//   x = blocks.0, ..., blocks.12 of x
//   x = relu(bn2(conv2(x)))                      conv2: 1x1 to C(1280)
//   y = fc(mean of x over height and width)      fc(x) = x * transpose(weight) + bias
// A block from m to n channels with kernel k and stride s:
//   t = relu6(.1(.0(x))) of expand_conv          .0: 1x1 to C(6 m); blocks.0 has no such step
//   t = relu6(.1(.0(t))) of depthwise_conv       .0: k x k, stride s, padding (k - 1) / 2, each
//                                                channel by itself
//   t = .1(.0(t)) of project_conv                .0: 1x1 to C(n); .1 is a batch norm
//   x = t + x if s is 1 and m is n, else t
// (m, n, k, s): (32, 16, 3, 1), (16, 24, 3, 2), (24, 24, 3, 1), (24, 40, 5, 2), (40, 40, 5, 1),
// (40, 80, 3, 2), (80, 80, 3, 1), (80, 112, 5, 1), (112, 112, 5, 1), (112, 192, 5, 2), (192, 192,
// 5, 1) twice, (192, 320, 3, 1). Convolutions have no bias. Batch norm of a channel: (x - mean) /
// sqrt(var + 1e-5) * weight + bias, with mean and var over batch, height and width, var without
// Bessel's correction.
// Weights: "conv1.weight", "bn1.weight", "bn1.bias", then for each block
// "blocks.<i>.expand_conv.0.weight", "....expand_conv.1.weight", "....expand_conv.1.bias", likewise
// "depthwise_conv" and "project_conv"; "conv2.weight", "bn2.weight", "bn2.bias", "fc.weight"
// [num_classes, C(1280)], "fc.bias".
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 10, height = 224, width = 224, num_classes = 1000;
  int64_t width_div = 1;  // divides all channel counts inside the network
  KB_FIELDS(batch_size, height, width, num_classes, width_div)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
