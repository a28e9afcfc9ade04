// C = A * B for lower triangular matrices, zero above the diagonal; so is C, whose zeros are
// written too. a, b, c: [M, M], row-major.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t M = 4096;
  KB_FIELDS(M)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* a, const real* b, real* c, cudaStream_t stream);
}  // namespace task
