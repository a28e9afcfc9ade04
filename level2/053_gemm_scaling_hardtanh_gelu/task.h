// Linear layer, then a scaling, bounds and GELU:
// v = min(max((x * transpose(weight) + bias) * scaling_factor, hardtanh_min), hardtanh_max);
// y = v * (1 + erf(v / sqrt(2))) / 2.
// x: [batch_size, in_features]; y: [batch_size, out_features]
// weight: [out_features, in_features]; bias: [out_features]. All row-major.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 2048, in_features = 8192, out_features = 8192;
  double scaling_factor = 0.5, hardtanh_min = -2, hardtanh_max = 2;
  KB_FIELDS(batch_size, in_features, out_features, scaling_factor, hardtanh_min, hardtanh_max)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* weight, const real* bias, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* weight, const real* bias, cudaStream_t stream);
}  // namespace task
