// C = A * s, elementwise, for the number s. a, c: [M, N], row-major.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t M = 65536, N = 16384;
  double s = 3.14;
  KB_FIELDS(M, N, s)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* a, real* c, cudaStream_t stream);
}  // namespace task
