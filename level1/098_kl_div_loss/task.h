// Kullback-Leibler divergence of predictions from targets, divided by batch_size:
// loss = sum over all elements of targets * log(targets / predictions) / batch_size.
// Rows of predictions and targets are positive and add up to 1.
// predictions, targets: [batch_size, input_shape[0]], row-major; loss: one element.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 16384;
  std::array<int64_t, 1> input_shape = {16384};
  KB_FIELDS(batch_size, input_shape)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* predictions, const real* targets, real* loss,
            cudaStream_t stream);
}  // namespace task
