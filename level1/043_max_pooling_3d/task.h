// Maximum of each window of kernel_size^3 elements, dilation apart, of a volume; windows start
// stride apart. Each volume has a margin of `padding` elements of minus infinity.
// x: [batch_size, channels, dim1, dim2, dim3]
// y: [batch_size, channels, length(dim1), length(dim2), length(dim3)], where
// length(n) = (n + 2 * padding - dilation * (kernel_size - 1) - 1) / stride + 1
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 16, channels = 32, dim1 = 128, dim2 = 128, dim3 = 128;
  int64_t kernel_size = 3, stride = 2, padding = 1, dilation = 3;
  KB_FIELDS(batch_size, channels, dim1, dim2, dim3, kernel_size, stride, padding, dilation)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, real* y, cudaStream_t stream);
}  // namespace task
