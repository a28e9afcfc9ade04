// Mean of each window of kernel_size x kernel_size elements of an image; windows do not overlap,
// and rows and columns that fill none are left out.
// x: [batch_size, channels, height, width]
// y: [batch_size, channels, height / kernel_size, width / kernel_size]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 16, channels = 64, height = 2048, width = 2048, kernel_size = 11;
  KB_FIELDS(batch_size, channels, height, width, kernel_size)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, real* y, cudaStream_t stream);
}  // namespace task
