// Linear layer, then a division and GELU:
// v = (x * transpose(weight) + bias) / divisor; y = v * (1 + erf(v / sqrt(2))) / 2.
// x: [batch_size, input_size]; y: [batch_size, output_size]
// weight: [output_size, input_size]; bias: [output_size]. All row-major.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 1024, input_size = 8192, output_size = 8192;
  double divisor = 10;
  KB_FIELDS(batch_size, input_size, output_size, divisor)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* weight, const real* bias, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* weight, const real* bias, cudaStream_t stream);
}  // namespace task
