// Several blocks add to one element of the output without an atomic.
// Task: level1/047_sum_reduction_over_a_dimension
// Expected: incorrect
// Says: in some orders of threads
// Backends: cpu
#include "task.h"

constexpr int64_t parts = 4;

__global__ void sum_columns(const float* x, float* y, int64_t rows, int64_t columns) {
  const int64_t column = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  if (column >= columns) return;
  x += blockIdx.z * rows * columns + column;
  float sum = 0;
  for (int64_t row = blockIdx.y; row < rows; row += parts) sum += x[row * columns];
  y[blockIdx.z * columns + column] += sum;
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  cudaMemsetAsync(y, 0, s.batch_size * s.dim2 * sizeof(float), stream);
  const dim3 grid(static_cast<unsigned>((s.dim2 + 127) / 128), parts, s.batch_size);
  sum_columns<<<grid, 128, 0, stream>>>(x, y, s.dim1, s.dim2);
}
