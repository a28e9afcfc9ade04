// Launches on the default stream, which does not wait for the given one.
// Task: level1/019_relu
// Expected: incorrect
// Says: pass the given stream as the fourth argument
#include "task.h"

__global__ void relu(const float* x, float* y, int64_t n) {
  const int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  if (i < n) y[i] = x[i] < 0 ? 0 : x[i];
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t) {
  const int64_t n = s.batch_size * s.dim;
  relu<<<static_cast<unsigned>((n + 255) / 256), 256>>>(x, y, n);
  cudaDeviceSynchronize();
}
