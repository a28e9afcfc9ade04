// Layer normalisation of each sample over its last three dimensions, with elementwise affine map:
// y = (x - mean) / sqrt(var + 1e-5) * weight + bias, var without Bessel's correction.
// x, y: [batch_size, features, dim1, dim2]; weight, bias: [features, dim1, dim2].
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 16, features = 64, dim1 = 256, dim2 = 256;
  KB_FIELDS(batch_size, features, dim1, dim2)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* weight, const real* bias, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* weight, const real* bias, cudaStream_t stream);
}  // namespace task
