// Division of each row by the mean of its absolute values: y[i][j] = x[i][j] / mean_k |x[i][k]|.
// x, y: [batch_size, dim], row-major.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 32768, dim = 65535;
  KB_FIELDS(batch_size, dim)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, real* y, cudaStream_t stream);
}  // namespace task
