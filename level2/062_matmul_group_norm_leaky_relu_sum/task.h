// Linear layer, then group normalisation, leaky ReLU and the sum of the result with itself:
// v = x * transpose(weight) + bias; w = (v - mean) / sqrt(var + 1e-5) * gn_weight + gn_bias;
// y = 2 * w where w > 0, else 2 * 0.01 * w. Here mean and var (without Bessel's correction) are
// those of a group: hidden_size / num_groups neighbouring features of a sample. num_groups divides
// hidden_size.
// x: [batch_size, input_size]; y: [batch_size, hidden_size]; weight: [hidden_size, input_size]
// bias, gn_weight, gn_bias: [hidden_size]. All row-major.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 1024, input_size = 8192, hidden_size = 8192;
  int64_t num_groups = 512;
  KB_FIELDS(batch_size, input_size, hidden_size, num_groups)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* weight, const real* bias,
            const real* gn_weight, const real* gn_bias, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* weight, const real* bias,
                         const real* gn_weight, const real* gn_bias, cudaStream_t stream);
}  // namespace task
