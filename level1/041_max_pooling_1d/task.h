// Maximum of each window of kernel_size elements, dilation apart, of a row; windows start stride
// apart. Each row has `padding` elements of minus infinity at either end.
// x: [batch_size, features, sequence_length]; y: [batch_size, features, length], where
// length = (sequence_length + 2 * padding - dilation * (kernel_size - 1) - 1) / stride + 1.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 64, features = 192, sequence_length = 65536;
  int64_t kernel_size = 8, stride = 1, padding = 4, dilation = 3;
  KB_FIELDS(batch_size, features, sequence_length, kernel_size, stride, padding, dilation)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, real* y, cudaStream_t stream);
}  // namespace task
