// SELU: y = scale * x where x > 0, else scale * alpha * (exp(x) - 1), elementwise, with
// scale = 1.0507009873554805 and alpha = 1.6732632423543772. x, y: [batch_size, dim].
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 4096, dim = 393216;
  KB_FIELDS(batch_size, dim)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, real* y, cudaStream_t stream);
}  // namespace task
