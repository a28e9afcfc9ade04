// Resets the device, so that timers answer with old numbers.
// Task: level1/019_relu
// Expected: runtime_error
// Backends: cuda
#include "shared/relu.cuh"

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  honest(s, x, y, stream);
  cudaStreamSynchronize(stream);
  cudaDeviceReset();
}
