// Mean over the batch of the cross-entropy between softmax(predictions) and the target class:
// loss = mean_i (log(sum_j exp(predictions[i][j])) - predictions[i][targets[i]]).
// predictions: [batch_size, num_classes], row-major; targets: [batch_size], int64 in
// [0, num_classes); loss: one element. Predictions reach values where exp() itself overflows.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 32768, num_classes = 4096;
  KB_FIELDS(batch_size, num_classes)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* predictions, const int64_t* targets, real* loss,
            cudaStream_t stream);
}  // namespace task
