// C = A * B for a tall and a wide matrix. a: [M, N], b: [N, M], c: [M, M], row-major.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t M = 32768, N = 32;
  KB_FIELDS(M, N)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* a, const real* b, real* c, cudaStream_t stream);
}  // namespace task
