// Linear layer, then Swish, a second bias and group normalisation:
// v = x * transpose(matmul_weight) + matmul_bias; w = v / (1 + exp(-v)) + bias;
// y = (w - mean) / sqrt(var + 1e-5) * gn_weight + gn_bias, where mean and var (without Bessel's
// correction) are those of a group: out_features / num_groups neighbouring features of a sample.
// num_groups divides out_features.
// x: [batch_size, in_features]; y: [batch_size, out_features]
// matmul_weight: [out_features, in_features]; all others: [out_features]. All row-major.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 32768, in_features = 1024, out_features = 4096;
  int64_t num_groups = 64;
  KB_FIELDS(batch_size, in_features, out_features, num_groups)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* bias, const real* matmul_weight,
            const real* matmul_bias, const real* gn_weight, const real* gn_bias, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* bias, const real* matmul_weight,
                         const real* matmul_bias, const real* gn_weight, const real* gn_bias,
                         cudaStream_t stream);
}  // namespace task
