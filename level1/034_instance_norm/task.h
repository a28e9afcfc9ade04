// Instance normalisation of each feature of each sample, without affine map:
// y = (x - mean) / sqrt(var + 1e-5), var without Bessel's correction.
// x, y: [batch_size, features, dim1, dim2].
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 112, features = 64, dim1 = 512, dim2 = 512;
  KB_FIELDS(batch_size, features, dim1, dim2)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, real* y, cudaStream_t stream);
}  // namespace task
