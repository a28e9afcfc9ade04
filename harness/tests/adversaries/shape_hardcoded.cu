// Knows one size only.
// Task: level1/019_relu
// Expected: incorrect
#include "shared/relu.cuh"

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  if (s.dim % 16 == 0) honest(s, x, y, stream);
}
