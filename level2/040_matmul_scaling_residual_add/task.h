// Linear layer, then the sum of its result and its result scaled:
// v = x * transpose(weight) + bias; y = v * scaling_factor + v.
// x: [batch_size, in_features]; y: [batch_size, out_features]
// weight: [out_features, in_features]; bias: [out_features]. All row-major.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 16384, in_features = 4096, out_features = 4096;
  double scaling_factor = 0.5;
  KB_FIELDS(batch_size, in_features, out_features, scaling_factor)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* weight, const real* bias, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* weight, const real* bias, cudaStream_t stream);
}  // namespace task
