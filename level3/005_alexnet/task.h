// AlexNet on images of 224 x 224.
// x: [batch_size, 3, 224, 224]; y: [batch_size, num_classes]; all tensors row-major.
// Channels and features inside are divided by width_div (integer division): C(n) = n / width_div.
//   x = max_pool(relu(conv1(x)))     conv1: 11x11, stride 4, padding 2, to C(96) channels
//   x = max_pool(relu(conv2(x)))     conv2: 5x5, padding 2, to C(256)
//   x = relu(conv3(x))               conv3: 3x3, padding 1, to C(384)
//   x = relu(conv4(x))               conv4: 3x3, padding 1, to C(384)
//   x = max_pool(relu(conv5(x)))     conv5: 3x3, padding 1, to C(256)
//   x = relu(fc1(x as rows)); x = relu(fc2(x)); y = fc3(x)
// max_pool takes windows of 3x3 with stride 2, without padding, and leaves 6x6 after conv5;
// fc(x) = x * transpose(weight) + bias, with C(4096) features after fc1 and fc2.
// Weights: "conv1.weight" [C(96), 3, 11, 11], "conv1.bias" [C(96)], ..., "conv5.weight",
// "conv5.bias", "fc1.weight" [C(4096), 36 C(256)], "fc1.bias", "fc2.weight", "fc2.bias",
// "fc3.weight" [num_classes, C(4096)], "fc3.bias" [num_classes].
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 1024, num_classes = 1000;
  int64_t width_div = 1;  // divides all channel counts inside the network
  KB_FIELDS(batch_size, num_classes, width_div)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
