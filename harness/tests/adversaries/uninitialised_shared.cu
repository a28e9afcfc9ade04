// Reads shared memory before it writes to it.
// Task: level1/019_relu
// Expected: incorrect
// Backends: cuda
#include "task.h"

__global__ void leak(float* y, int64_t n) {
  __shared__ float left[1024];
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = left[threadIdx.x];
}

void task::launch(const Sizes& s, const float*, float* y, cudaStream_t stream) {
  const int64_t n = s.batch_size * s.dim;
  leak<<<(n + 1023) / 1024, 1024, 0, stream>>>(y, n);
}
