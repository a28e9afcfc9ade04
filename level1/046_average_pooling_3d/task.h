// Mean of each window of kernel_size^3 elements of a volume; windows start stride apart. Each
// volume has a margin of `padding` zeros, which count as elements.
// x: [batch_size, channels, depth, height, width]
// y: [batch_size, channels, length(depth), length(height), length(width)], where
// length(n) = (n + 2 * padding - kernel_size) / stride + 1
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 16, channels = 32, depth = 128, height = 128, width = 256;
  int64_t kernel_size = 3, stride = 2, padding = 1;
  KB_FIELDS(batch_size, channels, depth, height, width, kernel_size, stride, padding)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, real* y, cudaStream_t stream);
}  // namespace task
