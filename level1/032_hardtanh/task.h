// y = min(max(x, min_val), max_val), elementwise. x, y: [batch_size, dim].
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 4096, dim = 393216;
  double min_val = -1, max_val = 1;
  KB_FIELDS(batch_size, dim, min_val, max_val)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, real* y, cudaStream_t stream);
}  // namespace task
