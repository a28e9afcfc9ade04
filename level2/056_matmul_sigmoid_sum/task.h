// Linear layer, then the sigmoid and the sum over the features:
// y[i] = sum over j of 1 / (1 + exp(-v[i][j])), v = x * transpose(weight) + bias.
// x: [batch_size, input_size]; y: [batch_size, 1]
// weight: [hidden_size, input_size]; bias: [hidden_size]. All row-major.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 128, input_size = 32768, hidden_size = 32768;
  KB_FIELDS(batch_size, input_size, hidden_size)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* weight, const real* bias, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* weight, const real* bias, cudaStream_t stream);
}  // namespace task
