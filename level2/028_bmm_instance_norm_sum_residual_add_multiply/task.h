// Linear layer, then normalisation of each row, then a sum and a product with a second input:
// v = x * transpose(weight) + bias; w = (v - mean) / sqrt(var + 1e-5), where mean and var (without
// Bessel's correction) are those of the row of v; z = (w + y) * y.
// x: [batch_size, in_features]; y, z: [batch_size, out_features]
// weight: [out_features, in_features]; bias: [out_features]. All row-major.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 1024, in_features = 8192, out_features = 8192;
  KB_FIELDS(batch_size, in_features, out_features)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* y, const real* weight, const real* bias,
            real* z, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* weight, const real* bias, cudaStream_t stream);
}  // namespace task
