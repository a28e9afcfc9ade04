// Linear layer, then a scaling, the sum with itself, bounds, logsumexp over the features and Mish:
// v = (x * transpose(weight) + bias) * scale_factor; w = min(max(v + v, clamp_min), clamp_max);
// z[i] = log(sum over j of exp(w[i][j])); y = z * mish(z), where
// mish(z) = z * tanh(log(1 + exp(z))).
// x: [batch_size, input_size]; y: [batch_size, 1]
// weight: [hidden_size, input_size]; bias: [hidden_size]. All row-major.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 1024, input_size = 8192, hidden_size = 8192;
  double scale_factor = 2, clamp_min = -10, clamp_max = 10;
  KB_FIELDS(batch_size, input_size, hidden_size, scale_factor, clamp_min, clamp_max)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* weight, const real* bias, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* weight, const real* bias, cudaStream_t stream);
}  // namespace task
