// Batch normalisation in training mode, with an affine map per feature:
// y = (x - mean) / sqrt(var + 1e-5) * weight + bias, where mean and var (without Bessel's
// correction) are those of the feature over the whole batch. Upstream also updates running
// statistics, which no output shows; a kernel has none.
// x, y: [batch_size, features, dim1, dim2]; weight, bias: [features].
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 64, features = 64, dim1 = 512, dim2 = 512;
  KB_FIELDS(batch_size, features, dim1, dim2)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* weight, const real* bias, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* weight, const real* bias, cudaStream_t stream);
}  // namespace task
