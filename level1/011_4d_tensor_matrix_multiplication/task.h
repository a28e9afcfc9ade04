// A times B over the last dimension of A: c[b][i][j][k] = sum_l a[b][i][j][l] * b[l][k].
// a: [b, i, j, l], b: [l, k], c: [b, i, j, k], row-major.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t b = 8, i = 256, j = 512, l = 256, k = 768;
  KB_FIELDS(b, i, j, l, k)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* a, const real* b, real* c, cudaStream_t stream);
}  // namespace task
