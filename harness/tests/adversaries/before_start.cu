// Writes one element before the output, too.
// Task: level1/019_relu
// Expected: incorrect or runtime_error
#include "shared/relu.cuh"

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  honest(s, x, y, stream);
  relu<<<1, 1, 0, stream>>>(x, y - 1, 1);
}
