// Normalisation of each group of features / num_groups neighbouring features of a sample, with an
// affine map per feature: y = (x - mean) / sqrt(var + 1e-5) * weight + bias, where mean and var
// (without Bessel's correction) are those of the group. num_groups divides features.
// x, y: [batch_size, features, dim1, dim2]; weight, bias: [features].
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 112, features = 64, num_groups = 8, dim1 = 512, dim2 = 512;
  KB_FIELDS(batch_size, features, num_groups, dim1, dim2)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* weight, const real* bias, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* weight, const real* bias, cudaStream_t stream);
}  // namespace task
