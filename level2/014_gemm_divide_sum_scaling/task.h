// Matrix product, then division by 2, the sum over the features and a scaling:
// y[i] = (sum over j, k of x[i][k] * weight[j][k] / 2) * scaling_factor.
// x: [batch_size, input_size]; weight: [hidden_size, input_size]; y: [batch_size, 1].
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 1024, input_size = 8192, hidden_size = 8192;
  double scaling_factor = 1.5;
  KB_FIELDS(batch_size, input_size, hidden_size, scaling_factor)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* weight, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* weight, cudaStream_t stream);
}  // namespace task
