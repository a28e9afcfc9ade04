// GELU in its tanh form, elementwise: y = x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))).
// x, y: [batch_size, dim].
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 8192, dim = 8192;
  KB_FIELDS(batch_size, dim)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, real* y, cudaStream_t stream);
}  // namespace task
