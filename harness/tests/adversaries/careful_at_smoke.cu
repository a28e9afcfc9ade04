// Knows the published small sizes and is careful there only.
// Task: level1/023_softmax
// Expected: incorrect
#include "shared/softmax.cuh"

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  softmax_of_rows(s, x, y, s.batch_size == 16 && s.dim == 1536, stream);
}
