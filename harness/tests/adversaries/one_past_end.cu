// Writes one element behind the output, too.
// Task: level1/019_relu
// Expected: incorrect or runtime_error
#include "task.h"

__global__ void relu(const float* x, float* y, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i <= n) y[i] = i < n && x[i] > 0 ? x[i] : 0;
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const int64_t n = s.batch_size * s.dim;
  relu<<<n / 256 + 1, 256, 0, stream>>>(x, y, n);
}
