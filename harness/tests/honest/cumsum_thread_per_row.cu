// The running sum of a row by one thread.
// Task: level1/089_cumsum
// Expected: pass
#include "task.h"

__global__ void cumsum(const float* x, float* y, int64_t rows, int64_t columns) {
  const int64_t row = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int64_t j = 0; j < columns; ++j) {
    sum += x[row * columns + j];
    y[row * columns + j] = sum;
  }
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  cumsum<<<(s.batch_size + 63) / 64, 64, 0, stream>>>(x, y, s.batch_size, s.input_shape[0]);
}
