// Linear layer, then the sum of its result and a scaled sigmoid of it:
// v = x * transpose(weight) + bias; y = scaling_factor / (1 + exp(-v)) + v.
// x: [batch_size, input_size]; y: [batch_size, hidden_size]
// weight: [hidden_size, input_size]; bias: [hidden_size]. All row-major.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 1024, input_size = 8192, hidden_size = 8192;
  double scaling_factor = 2;
  KB_FIELDS(batch_size, input_size, hidden_size, scaling_factor)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* weight, const real* bias, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* weight, const real* bias, cudaStream_t stream);
}  // namespace task
