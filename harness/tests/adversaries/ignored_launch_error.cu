// Asks for more threads than there are and ignores that nothing runs.
// Task: level1/019_relu
// Expected: runtime_error
#include "shared/relu.cuh"

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const int64_t n = s.batch_size * s.dim;
  relu<<<(n + 1999) / 2000, 2000, 0, stream>>>(x, y, n);
}
