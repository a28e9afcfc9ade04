// tanh(x) = 1 - 2 / (1 + exp(2 x)), one thread per element.
// Task: level1/022_tanh
// Expected: pass
#include "task.h"

__global__ void tanh_of(const float* x, float* y, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 1.0f - 2.0f / (1.0f + expf(2.0f * x[i]));
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const int64_t n = s.batch_size * s.dim;
  tanh_of<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
