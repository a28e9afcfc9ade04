// Position of the least element along the middle dimension, counted from 0; any of them
// if several are equal. x: [batch_size, dim1, dim2]; index: [batch_size, dim2], int64; row-major.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 128, dim1 = 4096, dim2 = 4095;
  KB_FIELDS(batch_size, dim1, dim2)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, int64_t* index, cudaStream_t stream);
}  // namespace task
