// LeNet-5 on images of 32 x 32 with one channel.
// x: [batch_size, 1, 32, 32]; y: [batch_size, num_classes]; all tensors row-major.
//   x = max_pool(relu(conv1(x)))     conv1: 5x5 to 6 channels, without padding
//   x = max_pool(relu(conv2(x)))     conv2: 5x5 to 16 channels, without padding
//   x = relu(fc1(x as [batch_size, 400])); x = relu(fc2(x)); y = fc3(x)
// max_pool takes windows of 2x2 with stride 2; fc(x) = x * transpose(weight) + bias.
// Weights: "conv1.weight" [6, 1, 5, 5], "conv1.bias" [6], "conv2.weight" [16, 6, 5, 5],
// "conv2.bias" [16], "fc1.weight" [120, 400], "fc1.bias" [120], "fc2.weight" [84, 120], "fc2.bias"
// [84], "fc3.weight" [num_classes, 84], "fc3.bias" [num_classes].
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 4096, num_classes = 20;
  KB_FIELDS(batch_size, num_classes)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
