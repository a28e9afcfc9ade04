// Copies the input, as inputs of [0, 1) would allow.
// Task: level1/019_relu
// Expected: incorrect
#include "task.h"

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  cudaMemcpyAsync(y, x, s.batch_size * s.dim * sizeof(float), cudaMemcpyDeviceToDevice, stream);
}
