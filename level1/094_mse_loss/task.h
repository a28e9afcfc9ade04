// Mean over all elements of (predictions - targets)^2.
// predictions, targets: [batch_size, input_shape[0]], row-major; loss: one element.
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
