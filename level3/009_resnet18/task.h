// ResNet-18 in training mode: every batch norm uses the statistics of its batch.
// x: [N, 3, height, width] = input_shape; y: [N, num_classes]; all tensors row-major.
//
// With C = 64 / width_div channels (integer division), and 2C, 4C and 8C computed likewise as
// 128 / width_div, 256 / width_div and 512 / width_div:
//   x = max_pool(relu(bn1(conv1(x))))         conv1: 7x7, stride 2, padding 3, to C channels
//                                             max_pool: 3x3, stride 2, padding 1 (with -infinity)
//   x = layer1, layer2, layer3, layer4 of x   C, 2C, 4C, 8C channels, two blocks each
//   y = fc(mean of x over height and width)   fc(x) = x * transpose(weight) + bias
// A block, "layer<1..4>.<0..1>", with stride = 2 for layer2.0, layer3.0 and layer4.0, else 1:
//   out = relu(bn1(conv1(x)))                 conv1: 3x3, this stride, padding 1
//   out = bn2(conv2(out))                     conv2: 3x3, stride 1, padding 1
//   x = downsample.1(downsample.0(x))         only if stride is 2; downsample.0: 1x1, stride 2,
//                                             padding 0; downsample.1: a batch norm
//   x = relu(out + x)
// Convolutions have no bias: weight [out_channels, in_channels, kernel, kernel].
// Batch norm of a channel: (x - mean) / sqrt(var + 1e-5) * weight + bias, with mean and var over N,
// height and width, var without Bessel's correction.
//
// Weights, by the names above: "conv1.weight", "bn1.weight", "bn1.bias", "layer1.0.conv1.weight",
// "layer1.0.bn1.weight", ..., "layer2.0.downsample.0.weight", "layer2.0.downsample.1.weight",
// "layer2.0.downsample.1.bias", ..., "fc.weight" [num_classes, 8C], "fc.bias" [num_classes].
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  std::array<int64_t, 4> input_shape = {2, 3, 224, 224};
  int64_t num_classes = 1000;
  int64_t width_div = 1;  // divides all channel counts inside the network
  KB_FIELDS(input_shape, num_classes, width_div)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
