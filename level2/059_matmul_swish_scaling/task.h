// Linear layer, then Swish and a scaling:
// v = x * transpose(weight) + bias; y = v / (1 + exp(-v)) * scaling_factor.
// x: [batch_size, in_features]; y: [batch_size, out_features]
// weight: [out_features, in_features]; bias: [out_features]. All row-major.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 128, in_features = 32768, out_features = 32768;
  double scaling_factor = 2;
  KB_FIELDS(batch_size, in_features, out_features, scaling_factor)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* weight, const real* bias, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* weight, const real* bias, cudaStream_t stream);
}  // namespace task
