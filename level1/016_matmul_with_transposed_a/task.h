// C = A^T * B. a: [K, M], b: [K, N], c: [M, N], row-major.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t M = 2048, K = 8192, N = 4096;
  KB_FIELDS(M, K, N)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* a, const real* b, real* c, cudaStream_t stream);
}  // namespace task
