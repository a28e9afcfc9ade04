// Diagonal matrix times matrix: c[i][j] = a[i] * b[i][j]. a: [N], the diagonal; b, c: [N, M],
// row-major.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t M = 4096, N = 4096;
  KB_FIELDS(M, N)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* a, const real* b, real* c, cudaStream_t stream);
}  // namespace task
