// Matrix times vector: c[i][0] = sum_k a[i][k] * b[k][0]. a: [M, K], b: [K, 1], c: [M, 1],
// row-major.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t M = 2048, K = 1048576;
  KB_FIELDS(M, K)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* a, const real* b, real* c, cudaStream_t stream);
}  // namespace task
