// C = A * B with a short inner dimension. a: [M, K], b: [K, N], c: [M, N], row-major.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t M = 32768, N = 32768, K = 64;
  KB_FIELDS(M, N, K)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* a, const real* b, real* c, cudaStream_t stream);
}  // namespace task
