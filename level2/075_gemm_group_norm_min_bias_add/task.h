// Linear layer, then group normalisation and the minimum over the features; a second bias turns the
// one minimum of a sample into a value for each feature: v = x * transpose(weight) + gemm_bias;
// w = (v - mean) / sqrt(var + 1e-5) * gn_weight + gn_bias;
// y[0][j][i][0] = (min over k of w[i][k]) + bias[j]. Here mean and var (without Bessel's
// correction) are those of a group: out_features / num_groups neighbouring features of a sample.
// num_groups divides out_features.
// x: [batch_size, in_features]; y: [1, out_features, batch_size, 1]: samples are neighbours
// weight: [out_features, in_features]; bias: [1, out_features, 1, 1]
// gemm_bias, gn_weight, gn_bias: [out_features]. All row-major.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 1024, in_features = 8192, out_features = 8192;
  int64_t num_groups = 512;
  KB_FIELDS(batch_size, in_features, out_features, num_groups)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* bias, const real* weight,
            const real* gemm_bias, const real* gn_weight, const real* gn_bias, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* bias, const real* weight,
                         const real* gemm_bias, const real* gn_weight, const real* gn_bias,
                         cudaStream_t stream);
}  // namespace task
