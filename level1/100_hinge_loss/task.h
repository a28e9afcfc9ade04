// Hinge loss: the mean over all elements of max(1 - predictions[i][j] * targets[j], 0).
// predictions: [batch_size, input_shape[0]], row-major; targets: [batch_size], -1 or 1, broadcast
// over the rows as upstream does, so that batch_size must equal input_shape[0]; loss: one element.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 32768;
  std::array<int64_t, 1> input_shape = {32768};
  KB_FIELDS(batch_size, input_shape)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* predictions, const real* targets, real* loss,
            cudaStream_t stream);
}  // namespace task
