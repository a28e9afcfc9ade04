// ResNet-101 in training mode: every batch norm uses the statistics of its batch.
// x: [batch_size, 3, height, width]; y: [batch_size, num_classes]; all tensors row-major.
// Channels are divided by width_div (integer division): C(n) = n / width_div.
//   x = max_pool(relu(bn1(conv1(x))))         conv1: 7x7, stride 2, padding 3, to C(64) channels
//                                             max_pool: 3x3, stride 2, padding 1 (with -infinity)
//   x = layer1, layer2, layer3, layer4 of x   layers[0], ..., layers[3] blocks of inner width
//                                             C(64), C(128), C(256), C(512)
//   y = fc(mean of x over height and width)   fc(x) = x * transpose(weight) + bias
// A block, "layer<1..4>.<i>", of inner width C(n) with stride = 2 for the first of layer2, layer3
// and layer4, else 1:
//   out = relu(bn1(conv1(x)))                 conv1: 1x1 to C(n)
//   out = relu(bn2(conv2(out)))               conv2: 3x3, this stride, padding 1, to C(n)
//   out = bn3(conv3(out))                     conv3: 1x1 to C(4 n)
//   x = downsample.1(downsample.0(x))         first block of a layer only; downsample.0: 1x1, this
//                                             stride, to C(4 n); downsample.1: a batch norm
//   x = relu(out + x)
// Convolutions have no bias. Batch norm of a channel: (x - mean) / sqrt(var + 1e-5) * weight +
// bias, with mean and var over batch, height and width, var without Bessel's correction.
// Weights, by the names above: "conv1.weight", "bn1.weight", "bn1.bias", "layer1.0.conv1.weight",
// "layer1.0.bn1.weight", ..., "layer1.0.downsample.0.weight", "layer1.0.downsample.1.weight",
// "layer1.0.downsample.1.bias", ..., "fc.weight" [num_classes, C(2048)], "fc.bias" [num_classes].
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 10, height = 224, width = 224;
  std::array<int64_t, 4> layers = {3, 4, 23, 3};
  int64_t num_classes = 1000;
  int64_t width_div = 1;  // divides all channel counts inside the network
  KB_FIELDS(batch_size, height, width, layers, num_classes, width_div)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
