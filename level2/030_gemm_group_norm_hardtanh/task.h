// Linear layer, then group normalisation and bounds: v = x * transpose(weight) + bias;
// y = min(max((v - mean) / sqrt(var + 1e-5) * gn_weight + gn_bias, hardtanh_min), hardtanh_max),
// where mean and var (without Bessel's correction) are those of a group: out_features / num_groups
// neighbouring features of a sample. num_groups divides out_features.
// x: [batch_size, in_features]; y: [batch_size, out_features]
// weight: [out_features, in_features]; bias, gn_weight, gn_bias: [out_features]. All row-major.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 1024, in_features = 8192, out_features = 8192;
  int64_t num_groups = 16;
  double hardtanh_min = -2, hardtanh_max = 2;
  KB_FIELDS(batch_size, in_features, out_features, num_groups, hardtanh_min, hardtanh_max)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* weight, const real* bias,
            const real* gn_weight, const real* gn_bias, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* weight, const real* bias,
                         const real* gn_weight, const real* gn_bias, cudaStream_t stream);
}  // namespace task
