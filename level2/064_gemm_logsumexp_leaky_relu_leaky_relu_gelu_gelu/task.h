// Linear layer, then logsumexp over the features, leaky ReLU twice and GELU twice:
// v = x * transpose(weight) + bias; z[i] = log(sum over j of exp(v[i][j]));
// y = gelu(gelu(leaky(leaky(z)))), where leaky(z) = z where z > 0, else 0.01 * z, and
// gelu(z) = z * (1 + erf(z / sqrt(2))) / 2.
// x: [batch_size, in_features]; y: [batch_size, 1]
// weight: [out_features, in_features]; bias: [out_features]. All row-major.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 1024, in_features = 8192, out_features = 8192;
  KB_FIELDS(batch_size, in_features, out_features)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* weight, const real* bias, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* weight, const real* bias, cudaStream_t stream);
}  // namespace task
