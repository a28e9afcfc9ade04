// EfficientNet-B2 in training mode: every batch norm uses the statistics of its batch. Its squeeze
// and excite steps stand in the sequence and do not gate it, so that one pixel is left after the
// first block.
// x: [batch_size, 3, height, width]; y: [batch_size, num_classes]; all tensors row-major.
// Channels are divided by width_div (integer division): C(n) = n / width_div.
//   x = relu(bn1(conv1(x)))                      conv1: 3x3, stride 2, padding 1, to C(32)
//   x = mbconv1, ..., mbconv5 of x
//   x = relu(bn_final(conv_final(x)))            conv_final: 1x1 to C(1408)
//   y = fc(mean of x over height and width)      fc(x) = x * transpose(weight) + bias
// A block from m to n channels that expands to e channels, with stride s:
//   x = relu(.1(.0(x)))                          .0: 1x1 to C(e)
//   x = mean of relu(.4(.3(x))) over height and width     .3: 3x3, stride s, padding 1, each
//                                                channel by itself
//   x = sigmoid(.9(relu(.7(x))))                 .7: 1x1 to C(e / 4); .9: 1x1 to C(e)
//   x = .12(.11(x))                              .11: 1x1 to C(n); .1, .4 and .12 are batch norms
// (m, e, n, s): (32, 96, 96, 1), (96, 576, 144, 2), (144, 864, 192, 2), (192, 1152, 288, 2),
// (288, 1728, 384, 1). Convolutions have no bias.
// Batch norm of a channel: (x - mean) / sqrt(var + 1e-5) * weight + bias, with mean and var over
// batch, height and width, var without Bessel's correction.
// Weights: "conv1.weight", "bn1.weight", "bn1.bias", for each block "mbconv<i>.0.weight",
// "....1.weight", "....1.bias", "....3.weight", "....4.weight", "....4.bias", "....7.weight",
// "....9.weight", "....11.weight", "....12.weight", "....12.bias"; "conv_final.weight",
// "bn_final.weight", "bn_final.bias", "fc.weight" [num_classes, C(1408)], "fc.bias" [num_classes].
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 2, height = 224, width = 224, num_classes = 1000;
  int64_t width_div = 1;  // divides all channel counts inside the network
  KB_FIELDS(batch_size, height, width, num_classes, width_div)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
