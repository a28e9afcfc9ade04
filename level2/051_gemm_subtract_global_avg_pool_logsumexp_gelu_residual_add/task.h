// Linear layer, then the mean over the features less a vector, GELU, and the sum with the input:
// v = x * transpose(gemm_weight) + gemm_bias - subtract; m[i] = mean over j of v[i][j];
// y[i][k] = x[i][k] + m[i] * (1 + erf(m[i] / sqrt(2))) / 2. (Upstream takes logsumexp over the one
// value m[i], which changes nothing.)
// x, y: [batch_size, in_features]; gemm_weight: [out_features, in_features]
// subtract, gemm_bias: [out_features]. All row-major.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 2048, in_features = 8192, out_features = 8192;
  KB_FIELDS(batch_size, in_features, out_features)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* subtract, const real* gemm_weight,
            const real* gemm_bias, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* subtract, const real* gemm_weight,
                         const real* gemm_bias, cudaStream_t stream);
}  // namespace task
