// Log-softmax of each row: y[i][j] = x[i][j] - m - log(sum_k exp(x[i][k] - m)), m = max_k x[i][k].
// x, y: [batch_size, dim], row-major. Values of x exceed 88, where exp(x) itself overflows.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 4096, dim = 393216;
  KB_FIELDS(batch_size, dim)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, real* y, cudaStream_t stream);
}  // namespace task
