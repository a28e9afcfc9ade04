// Reads on behind its input, where the judge's other memory could lie.
// Task: level1/019_relu
// Expected: incorrect or runtime_error
// Backends: cuda
#include "task.h"

__global__ void peek(const float* from, float* y, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = from[i];
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const int64_t n = s.batch_size * s.dim;
  peek<<<(n + 255) / 256, 256, 0, stream>>>(x + n + 16384, y, n);
}
