// Maximum of each window of kernel_size x kernel_size elements, dilation apart, of an image;
// windows start stride apart. Each image has a margin of `padding` elements of minus infinity.
// x: [batch_size, channels, height, width]
// y: [batch_size, channels, length(height), length(width)], where
// length(n) = (n + 2 * padding - dilation * (kernel_size - 1) - 1) / stride + 1
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 32, channels = 64, height = 512, width = 512;
  int64_t kernel_size = 4, stride = 1, padding = 1, dilation = 1;
  KB_FIELDS(batch_size, channels, height, width, kernel_size, stride, padding, dilation)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, real* y, cudaStream_t stream);
}  // namespace task
