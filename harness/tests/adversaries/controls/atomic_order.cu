// Adds by atomics, so that each run rounds in another order.
// Task: level1/047_sum_reduction_over_a_dimension
// Expected: pass
#include "task.h"

// Each thread adds a part of a column.
__global__ void add(const float* x, float* y, int64_t rows, int64_t columns) {
  const int64_t column = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  x += blockIdx.z * rows * columns + column;
  float sum = 0;
  for (int64_t row = blockIdx.y; row < rows; row += gridDim.y) sum += x[row * columns];
  atomicAdd(y + blockIdx.z * columns + column, sum);
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  cudaMemsetAsync(y, 0, s.batch_size * s.dim2 * sizeof(float), stream);
  add<<<dim3((s.dim2 + 127) / 128, 8, s.batch_size), 128, 0, stream>>>(x, y, s.dim1, s.dim2);
}
