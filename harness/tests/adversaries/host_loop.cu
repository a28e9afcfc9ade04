// Never returns.
// Task: level1/019_relu
// Expected: timeout
#include "shared/relu.cuh"

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  volatile bool forever = true;
  while (forever) continue;
  honest(s, x, y, stream);
}
