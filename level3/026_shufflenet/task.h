// ShuffleNet without downsampling stages, in training mode: batch norms use their batch's
// statistics.
// x: [batch_size, input_channels, height, width]; y: [batch_size, num_classes]; all tensors
// row-major.
//   x = max_pool(relu(bn1(conv1(x))))     conv1: 3x3, stride 2, padding 1, to
//                                         stages_out_channels[0]; max_pool: 3x3, stride 2, padding
//                                         1 (with -infinity)
//   x = stage2, stage3, stage4 of x       stages_repeats[i] units to stages_out_channels[i + 1]
//   x = relu(bn5(conv5(x)))               conv5: 1x1 to final_channels
//   y = fc(mean of x over height and width)           fc(x) = x * transpose(weight) + bias
// A unit, "stage<2..4>.<i>", to out channels:
//   t = relu(bn1(conv1(x)))          conv1: 1x1 to out / 4, in `groups` groups
//   t = bn2(conv2(t))                conv2: 3x3, padding 1, each channel by itself
//   t = t with its channels shuffled: channel p * groups + g of the result is channel
//                                    g * (out / 4 / groups) + p
//   t = relu(bn3(conv3(t)))          conv3: 1x1 to out, in `groups` groups
//   x = t + shortcut(x)              shortcut: a 1x1 convolution to out and a batch norm, or x
//                                    itself if it has as many channels
// Groups of a convolution are equal parts of its channels. Convolutions have no bias.
// Batch norm of a channel: (x - mean) / sqrt(var + 1e-5) * weight + bias, with mean and var over
// batch, height and width, var without Bessel's correction.
// Weights: "conv1.weight", "bn1.weight", "bn1.bias", for each unit "stage2.0.conv1.weight",
// "....bn1.weight", "....bn1.bias", likewise conv2, bn2, conv3, bn3, and for the first of a stage
// "....shortcut.0.weight", "....shortcut.1.weight", "....shortcut.1.bias"; "conv5.weight",
// "bn5.weight", "bn5.bias", "fc.weight" [num_classes, final_channels], "fc.bias" [num_classes].
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 10, input_channels = 3, height = 224, width = 224, num_classes = 1000;
  int64_t groups = 3;
  std::array<int64_t, 3> stages_repeats = {3, 7, 3};
  std::array<int64_t, 4> stages_out_channels = {24, 240, 480, 960};
  int64_t final_channels = 1024;
  KB_FIELDS(batch_size, input_channels, height, width, num_classes, groups, stages_repeats,
            stages_out_channels, final_channels)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
