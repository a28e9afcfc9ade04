// EfficientNet-B1 without squeeze-excite or residuals, in training mode: every batch norm uses the
// statistics of its batch.
// x: [batch_size, input_shape...], input_shape = [3, height, width]; y: [batch_size, num_classes];
// all tensors row-major. Channels are divided by width_div (integer division): C(n) = n /
// width_div.
//   x = relu(bn1(conv1(x)))                      conv1: 3x3, stride 2, padding 1, to C(32)
//   x = mbconv1, ..., mbconv7 of x
//   x = relu(bn2(conv2(x)))                      conv2: 1x1 to C(1280)
//   y = fc(mean of x over height and width)      fc(x) = x * transpose(weight) + bias
// A block from m to n channels that expands e times, with stride s:
//   x = relu6(.1(.0(x)))      .0: 1x1 to C(e m)
//   x = relu6(.4(.3(x)))      .3: 3x3, stride s, padding 1, each channel by itself
//   x = .7(.6(x))             .6: 1x1 to C(n); .1, .4 and .7 are batch norms
// (m, n, s, e): (32, 16, 1, 1), (16, 24, 2, 6), (24, 40, 2, 6), (40, 80, 2, 6), (80, 112, 1, 6),
// (112, 192, 2, 6), (192, 320, 1, 6). Convolutions have no bias.
// Batch norm of a channel: (x - mean) / sqrt(var + 1e-5) * weight + bias, with mean and var over
// batch, height and width, var without Bessel's correction.
// Weights: "conv1.weight", "bn1.weight", "bn1.bias", then for each block "mbconv<i>.0.weight",
// "....1.weight", "....1.bias", "....3.weight", "....4.weight", "....4.bias", "....6.weight",
// "....7.weight", "....7.bias"; "conv2.weight", "bn2.weight", "bn2.bias", "fc.weight" [num_classes,
// C(1280)], "fc.bias" [num_classes].
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 10;
  std::array<int64_t, 3> input_shape = {3, 240, 240};
  int64_t num_classes = 1000;
  int64_t width_div = 1;  // divides all channel counts inside the network
  KB_FIELDS(batch_size, input_shape, num_classes, width_div)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
