// Softplus by log1pf.
// Task: level1/029_softplus
// Expected: pass
#include "task.h"

__global__ void softplus(const float* x, float* y, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] > 20 ? x[i] : log1pf(expf(x[i]));
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const int64_t n = s.batch_size * s.dim;
  softplus<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
