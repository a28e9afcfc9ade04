// Mean of each window of kernel_size neighbours of a row; windows start stride apart. Each row has
// `padding` zeros at either end, which count as elements.
// x: [batch_size, in_channels, input_length]; y: [batch_size, in_channels, length], where
// length = (input_length + 2 * padding - kernel_size) / stride + 1.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 64, in_channels = 128, input_length = 65536;
  int64_t kernel_size = 8, stride = 1, padding = 4;
  KB_FIELDS(batch_size, in_channels, input_length, kernel_size, stride, padding)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, real* y, cudaStream_t stream);
}  // namespace task
