// All threads of a block add to one element of the output without an atomic.
// Task: level1/047_sum_reduction_over_a_dimension
// Expected: incorrect
// Says: in some orders of threads
// Backends: cpu
#include "task.h"

__global__ void sum_columns(const float* x, float* y, int64_t rows, int64_t columns) {
  x += blockIdx.y * rows * columns + blockIdx.x;
  float sum = 0;
  for (int64_t row = threadIdx.x; row < rows; row += 64) sum += x[row * columns];
  y[blockIdx.y * columns + blockIdx.x] += sum;
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  cudaMemsetAsync(y, 0, s.batch_size * s.dim2 * sizeof(float), stream);
  sum_columns<<<dim3(s.dim2, s.batch_size), 64, 0, stream>>>(x, y, s.dim1, s.dim2);
}
