// Starts a kernel that never ends.
// Task: level1/019_relu
// Expected: timeout
#include "task.h"

__global__ void spin(volatile float* y) {
  while (y[0] != 1234567) continue;
}

void task::launch(const Sizes&, const float*, float* y, cudaStream_t stream) {
  spin<<<1, 32, 0, stream>>>(y);
}
