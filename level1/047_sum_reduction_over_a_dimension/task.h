// Sum over the middle dimension, which is kept with length 1.
// x: [batch_size, dim1, dim2]; y: [batch_size, 1, dim2]; both row-major.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 128, dim1 = 4096, dim2 = 4095;
  KB_FIELDS(batch_size, dim1, dim2)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, real* y, cudaStream_t stream);
}  // namespace task
