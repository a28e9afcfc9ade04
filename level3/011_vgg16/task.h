// VGG-16 on images of 224 x 224.
// x: [batch_size, 3, 224, 224]; y: [batch_size, num_classes]; all tensors row-major.
// Channels and features inside are divided by width_div (integer division): C(n) = n / width_div.
// Five groups of convolutions, 2, 2, 3, 3 and 3 of them, to C(64), C(128), C(256), C(512) and
// C(512) channels. A convolution is 3x3 with padding 1, followed by relu; a group ends with a max
// pool over windows of 2x2 with stride 2, which leaves 7x7 in the end. Then
//   x = relu(fc0(x as rows)); x = relu(fc3(x)); y = fc6(x)     fc(x) = x * transpose(weight) + bias
// with C(4096) features after fc0 and fc3.
// Weights: "features.<i>.weight" [out_channels, in_channels, 3, 3] and "features.<i>.bias", where i
// counts convolutions, relus and pools from 0 (0, 2, 5, 7, 10, ...); "classifier.0.weight"
// [C(4096), 49 C(512)], "classifier.0.bias", "classifier.3.weight", "classifier.3.bias",
// "classifier.6.weight" [num_classes, C(4096)], "classifier.6.bias" [num_classes].
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 10, num_classes = 1000;
  int64_t width_div = 1;  // divides all channel counts inside the network
  KB_FIELDS(batch_size, num_classes, width_div)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
