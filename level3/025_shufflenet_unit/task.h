// A unit of ShuffleNet in training mode: every batch norm uses the statistics of its batch.
// x: [batch_size, input_channels, height, width]; y: [batch_size, out_channels, height, width]; all
// tensors row-major. With out = out_channels:
//   t = relu(bn1(conv1(x)))          conv1: 1x1 to out / 4, in `groups` groups
//   t = bn2(conv2(t))                conv2: 3x3, padding 1, each channel by itself
//   t = t with its channels shuffled: channel p * groups + g of the result is channel
//                                    g * (out / 4 / groups) + p
//   t = relu(bn3(conv3(t)))          conv3: 1x1 to out, in `groups` groups
//   y = t + shortcut(x)              shortcut: a 1x1 convolution to out and a batch norm, or x
//                                    itself if input_channels is out_channels
// Groups of a convolution are equal parts of its channels. Convolutions have no bias.
// Batch norm of a channel: (x - mean) / sqrt(var + 1e-5) * weight + bias, with mean and var over
// batch, height and width, var without Bessel's correction.
// Weights: "conv1.weight" [out / 4, input_channels / groups, 1, 1], "bn1.weight", "bn1.bias",
// "conv2.weight" [out / 4, 1, 3, 3], "bn2.weight", "bn2.bias", "conv3.weight" [out, out / 4 /
// groups, 1, 1], "bn3.weight", "bn3.bias", "shortcut.0.weight" [out, input_channels, 1, 1],
// "shortcut.1.weight", "shortcut.1.bias".
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 10, input_channels = 240, out_channels = 480, groups = 3;
  int64_t height = 224, width = 224;
  KB_FIELDS(batch_size, input_channels, out_channels, groups, height, width)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
