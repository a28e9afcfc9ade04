// Lacks the barriers of its reduction, which one order of threads forgives.
// Task: level1/047_sum_reduction_over_a_dimension
// Expected: incorrect
// Says: in some orders of threads
// Backends: cpu
#include "task.h"

__global__ void sum_columns(const float* x, float* y, int64_t rows, int64_t columns) {
  __shared__ float sums[32];
  x += blockIdx.y * rows * columns + blockIdx.x;
  float sum = 0;
  for (int64_t row = threadIdx.x; row < rows; row += 32) sum += x[row * columns];
  sums[threadIdx.x] = sum;
  for (int half = 16; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0) y[blockIdx.y * columns + blockIdx.x] = sums[0];
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  sum_columns<<<dim3(s.dim2, s.batch_size), 32, 0, stream>>>(x, y, s.dim1, s.dim2);
}
