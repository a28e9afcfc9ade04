// C = A * B for square matrices. a, b, c: [N, N], row-major.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t N = 4096;
  KB_FIELDS(N)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* a, const real* b, real* c, cudaStream_t stream);
}  // namespace task
