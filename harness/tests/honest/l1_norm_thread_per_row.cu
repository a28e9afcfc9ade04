// Divides each row by the mean of its absolute values, which one thread adds in order.
// Task: level1/038_l1_norm
// Expected: pass
#include "task.h"

__global__ void mean_of_row(const float* x, float* mean, int64_t rows, int64_t columns) {
  const int64_t row = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int64_t j = 0; j < columns; ++j) sum += fabsf(x[row * columns + j]);
  mean[row] = sum / columns;
}

__global__ void divide(const float* x, const float* mean, float* y, int64_t n, int64_t columns) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] / mean[i / columns];
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  float* mean = nullptr;
  cudaMallocAsync(&mean, s.batch_size * sizeof(float), stream);
  mean_of_row<<<(s.batch_size + 63) / 64, 64, 0, stream>>>(x, mean, s.batch_size, s.dim);
  const int64_t n = s.batch_size * s.dim;
  divide<<<(n + 255) / 256, 256, 0, stream>>>(x, mean, y, n, s.dim);
  cudaFreeAsync(mean, stream);
}
