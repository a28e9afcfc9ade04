// GELU by erff in a grid-stride loop.
// Task: level1/026_gelu
// Expected: pass
#include "task.h"

__global__ void gelu(const float* __restrict__ x, float* __restrict__ y, int64_t n) {
  const int64_t stride = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    const float v = __ldg(x + i);
    y[i] = v * 0.5f * (1.0f + erff(v * 0.70710678118654752f));
  }
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  gelu<<<4096, 256, 0, stream>>>(x, y, s.batch_size * s.dim);
}
