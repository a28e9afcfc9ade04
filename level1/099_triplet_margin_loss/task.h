// Triplet margin loss: the mean over the batch of max(d(anchor, positive) - d(anchor, negative)
// + margin, 0), where d(a, b) = sqrt(sum_j (a[j] - b[j] + 1e-6)^2) for rows a and b.
// anchor, positive, negative: [batch_size, input_shape[0]], row-major; loss: one element.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 32768;
  std::array<int64_t, 1> input_shape = {8192};
  double margin = 1;
  KB_FIELDS(batch_size, input_shape, margin)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* anchor, const real* positive, const real* negative,
            real* loss, cudaStream_t stream);
}  // namespace task
