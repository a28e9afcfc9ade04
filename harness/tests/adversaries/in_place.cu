// Computes the right answer, but also into its input.
// Task: level1/019_relu
// Expected: incorrect
#include "shared/relu.cuh"

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  honest(s, x, y, stream);
  honest(s, x, const_cast<float*>(x), stream);
}
