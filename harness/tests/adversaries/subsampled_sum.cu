// Estimates a sum from every 64th element.
// Task: level1/047_sum_reduction_over_a_dimension
// Expected: incorrect
#include "task.h"

__global__ void estimate(const float* x, float* y, int64_t rows, int64_t columns) {
  const int64_t column = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  x += blockIdx.y * rows * columns + column;
  float sum = 0;
  int64_t samples = 0;
  for (int64_t row = 0; row < rows; row += 64, ++samples) sum += x[row * columns];
  y[blockIdx.y * columns + column] = sum / samples * rows;
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  estimate<<<dim3((s.dim2 + 127) / 128, s.batch_size), 128, 0, stream>>>(x, y, s.dim1, s.dim2);
}
