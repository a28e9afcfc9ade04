// Multiplies the first 32 elements of a row and calls the rest zero.
// Task: level1/090_cumprod
// Expected: incorrect
#include "task.h"

__global__ void prefix(const float* x, float* y, int64_t n) {
  x += blockIdx.x * n;
  y += blockIdx.x * n;
  float product = 1;
  for (int64_t i = 0; i < n; ++i) {
    product = i < 32 ? product * x[i] : 0;
    y[i] = product;
  }
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  prefix<<<s.batch_size, 1, 0, stream>>>(x, y, s.input_shape[0]);
}
