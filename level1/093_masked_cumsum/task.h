// Cumulative sum of each row over the elements where mask is true:
// y[i][j] = x[i][0] * mask[i][0] + ... + x[i][j] * mask[i][j].
// x, mask, y: [batch_size, input_shape[0]], row-major; mask has one byte per element, 0 or 1.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 32768;
  std::array<int64_t, 1> input_shape = {32768};
  KB_FIELDS(batch_size, input_shape)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const bool* mask, real* y, cudaStream_t stream);
}  // namespace task
