// Linear layer, then a second bias, Swish, tanh, GELU and bounds:
// v = x * transpose(weight) + bias + add_value; w = tanh(v / (1 + exp(-v)));
// y = min(max(w * (1 + erf(w / sqrt(2))) / 2, -1), 1).
// x: [batch_size, in_features]; y: [batch_size, out_features]
// weight: [out_features, in_features]; bias, add_value: [out_features]. All row-major.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 1024, in_features = 8192, out_features = 8192;
  KB_FIELDS(batch_size, in_features, out_features)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* add_value, const real* weight,
            const real* bias, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* add_value, const real* weight,
                         const real* bias, cudaStream_t stream);
}  // namespace task
