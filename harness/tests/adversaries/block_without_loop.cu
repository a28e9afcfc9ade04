// One thread for each column, in a block of at most 1024 and without a loop.
// Task: level1/047_sum_reduction_over_a_dimension
// Expected: incorrect
#include "task.h"

__global__ void sum(task::Sizes s, const float* x, float* y) {
  const int64_t column = threadIdx.x;
  float sum = 0;
  for (int64_t row = 0; row < s.dim1; ++row) {
    sum += x[(blockIdx.x * s.dim1 + row) * s.dim2 + column];
  }
  y[blockIdx.x * s.dim2 + column] = sum;
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const int64_t threads = s.dim2 > 1024 ? 1024 : s.dim2;
  sum<<<s.batch_size, threads, 0, stream>>>(s, x, y);
}
