// SqueezeNet.
// x: [batch_size, 3, height, width]; y: [batch_size, num_classes]; all tensors row-major.
// Channels inside are divided by width_div (integer division): C(n) = n / width_div.
//   x = pool(relu(features.0(x)))          features.0: 7x7, stride 2, to C(96), without padding
//   x = fire 3, 4 and 5 of x; x = pool(x)  fire modules of width 16, 16, 32
//   x = fire 7 to 10 of x; x = pool(x)     of width 32, 48, 48, 64
//   x = fire 12 of x                       of width 64
//   y = mean over height and width of relu(classifier.1(x)), a convolution of 1x1 to num_classes
// pool: windows of 3x3, stride 2, without padding, the last may reach over the end (ceil_mode).
// A fire module of width n, "features.<i>": squeeze is 1x1 to C(n), expand1x1 is 1x1 to C(4 n),
// expand3x3 is 3x3 with padding 1 to C(4 n):
//   x = relu(squeeze(x))
//   x = concat of relu(expand1x1(x)) and relu(expand3x3(x)) along the channels
// Weights: "features.0.weight" [C(96), 3, 7, 7], "features.0.bias"; for each fire module
// "features.<i>.squeeze.weight", "....squeeze.bias", "....expand1x1.weight", "....expand1x1.bias",
// "....expand3x3.weight", "....expand3x3.bias"; "classifier.1.weight" [num_classes, 2 C(256), 1,
// 1], "classifier.1.bias" [num_classes].
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 64, height = 512, width = 512, num_classes = 1000;
  int64_t width_div = 1;  // divides all channel counts inside the network
  KB_FIELDS(batch_size, height, width, num_classes, width_div)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
