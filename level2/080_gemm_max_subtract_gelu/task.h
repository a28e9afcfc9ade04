// Linear layer, then the maximum over the features, less its mean over that one value, then GELU:
// m[i] = max over j of (x * transpose(weight) + bias)[i][j]; d = m - m;
// y = d * (1 + erf(d / sqrt(2))) / 2. All finite maxima give zero.
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
