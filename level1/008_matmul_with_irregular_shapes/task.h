// C = A * B where no dimension is a multiple of 8. a: [M, K], b: [K, N], c: [M, N], row-major.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t M = 8205, K = 2949, N = 5921;
  KB_FIELDS(M, K, N)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* a, const real* b, real* c, cudaStream_t stream);
}  // namespace task
