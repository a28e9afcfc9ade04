// Writes one element, as if the output had the shape [1].
// Task: level1/019_relu
// Expected: incorrect
#include "shared/relu.cuh"

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  relu<<<1, 1, 0, stream>>>(x, y, s.batch_size > 0 ? 1 : 0);
}
