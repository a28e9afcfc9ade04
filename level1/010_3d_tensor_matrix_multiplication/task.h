// Each matrix of A times B, over the last dimension of A: c[n][m][l] = sum_k a[n][m][k] * b[k][l].
// a: [N, M, K], b: [K, L], c: [N, M, L], row-major.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t N = 16, M = 1024, K = 2048, L = 768;
  KB_FIELDS(N, M, K, L)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* a, const real* b, real* c, cudaStream_t stream);
}  // namespace task
