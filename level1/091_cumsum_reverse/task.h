// Cumulative sum of each row from its end: y[i][j] = x[i][j] + ... + x[i][input_shape[0] - 1].
// x, y: [batch_size, input_shape[0]], row-major.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 32768;
  std::array<int64_t, 1> input_shape = {32768};
  KB_FIELDS(batch_size, input_shape)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, real* y, cudaStream_t stream);
}  // namespace task
