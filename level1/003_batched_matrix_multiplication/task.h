// Product of each pair of matrices. a: [batch_size, m, k], b: [batch_size, k, n],
// c: [batch_size, m, n], row-major.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 128, m = 512, k = 1024, n = 2048;
  KB_FIELDS(batch_size, m, k, n)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* a, const real* b, real* c, cudaStream_t stream);
}  // namespace task
