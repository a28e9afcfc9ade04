// Division by the root mean square over the features:
// y[n][f][i][j] = x[n][f][i][j] / sqrt(mean_g x[n][g][i][j]^2 + eps).
// x, y: [batch_size, features, dim1, dim2].
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 112, features = 64, dim1 = 512, dim2 = 512;
  double eps = 1e-5;
  KB_FIELDS(batch_size, features, dim1, dim2, eps)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, real* y, cudaStream_t stream);
}  // namespace task
