// Swish (SiLU): y = x / (1 + exp(-x)), elementwise. x, y: [batch_size, dim].
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
