// GoogLeNet (Inception v1) without activations inside its inception modules.
// x: [batch_size, 3, height, width]; y: [batch_size, num_classes]; all tensors row-major.
// Channels inside are divided by width_div (integer division): C(n) = n / width_div.
//   x = pool(relu(conv1(x)))              conv1: 7x7, stride 2, padding 3, to C(64)
//   x = relu(conv2(x))                    conv2: 1x1 to C(64)
//   x = pool(relu(conv3(x)))              conv3: 3x3, padding 1, to C(192)
//   x = inception3a, inception3b, pool, inception4a to inception4e, pool, inception5a, inception5b
//   y = fc(mean of x over height and width)           fc(x) = x * transpose(weight) + bias
// pool: windows of 3x3, stride 2, padding 1 (with -infinity). An inception module has four
// branches, whose results stand one after the other along the channels:
//   branch1x1(x), branch3x3.1(branch3x3.0(x)), branch5x5.1(branch5x5.0(x)), branch_pool.1(pool1(x))
// .0 and branch1x1 and branch_pool.1 are 1x1, branch3x3.1 is 3x3 with padding 1, branch5x5.1 is 5x5
// with padding 2, pool1 is pool with stride 1. To C(n) channels, n for branch1x1, branch3x3.0, .1,
// branch5x5.0, .1, branch_pool.1:
//   3a: 64, 96, 128, 16, 32, 32
//   3b: 128, 128, 192, 32, 96, 64
//   4a: 192, 96, 208, 16, 48, 64
//   4b: 160, 112, 224, 24, 64, 64
//   4c: 128, 128, 256, 24, 64, 64
//   4d: 112, 144, 288, 32, 64, 64
//   4e: 256, 160, 320, 32, 128, 128
//   5a: 256, 160, 320, 32, 128, 128
//   5b: 384, 192, 384, 48, 128, 128
// Weights: "conv1.weight", "conv1.bias", ..., "conv3.bias"; "inception3a.branch1x1.weight",
// "inception3a.branch1x1.bias", "inception3a.branch3x3.0.weight", ...;
// "fc.weight" [num_classes, what inception5b leaves], "fc.bias" [num_classes].
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
