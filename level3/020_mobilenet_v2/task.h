// MobileNet v2 in training mode: every batch norm uses the statistics of its batch.
// x: [batch_size, 3, height, width]; y: [batch_size, num_classes]; all tensors row-major.
// Channels are divided by width_div (integer division): C(n) = n / width_div.
//   x = relu6(features.1(features.0(x)))           features.0: 3x3, stride 2, padding 1, to C(32)
//   x = features.3, features.4, ..., features.19 of x
//   x = relu6(features.21(features.20(x)))         features.20: 1x1 to C(1280)
//   y = classifier.1(mean of x over height and width)          x * transpose(weight) + bias
// features.1 and .21 are batch norms. A block, "features.<i>", from m to n channels; it has no
// residual, which upstream prepares and never adds:
//   x = relu6(.1(.0(x)))      .0: 1x1 to C(6 m); features.3 has no such step, and the numbers of
//                             the others begin at 0 there
//   x = relu6(.4(.3(x)))      .3: 3x3, stride 1 or 2, padding 1, each channel by itself
//   x = .7(.6(x))             .6: 1x1 to C(n); .1, .4 and .7 are batch norms
// n is 16 once, 24 twice, 32 three times, 64 four times, 96 three times, 160 three times, 320 once;
// the first blocks of 24, 32, 64 and 160 have stride 2. Convolutions have no bias. Batch norm of a
// channel: (x - mean) / sqrt(var + 1e-5) * weight + bias, with mean and var over batch, height and
// width, var without Bessel's correction.
// Weights: "features.0.weight" [C(32), 3, 3, 3], "features.1.weight", "features.1.bias", then in
// this order those of each block ("features.3.0.weight" [C(32), 1, 3, 3], "features.3.1.weight",
// ...), "features.20.weight", "features.21.weight", "features.21.bias", "classifier.1.weight"
// [num_classes, C(1280)], "classifier.1.bias" [num_classes].
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
