// Leaves the device with an error and a right answer.
// Task: level1/019_relu
// Expected: runtime_error
#include "shared/relu.cuh"

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  honest(s, x, y, stream);
  relu<<<1, 4096, 0, stream>>>(x, y, 1);
}
