// Writes NaN, which no comparison calls too large.
// Task: level1/019_relu
// Expected: incorrect
#include "task.h"

__global__ void fill(float* y, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = nanf("");
}

void task::launch(const Sizes& s, const float*, float* y, cudaStream_t stream) {
  const int64_t n = s.batch_size * s.dim;
  fill<<<(n + 255) / 256, 256, 0, stream>>>(y, n);
}
