// All threads of a block raise one element of the output without an atomic.
// Task: level1/049_max_reduction_over_a_dimension
// Expected: incorrect
// Says: in some orders of threads
// Backends: cpu
#include "task.h"

__global__ void clear(float* y) { y[blockIdx.y * gridDim.x + blockIdx.x] = -INFINITY; }

__global__ void max_columns(const float* x, float* y, int64_t rows, int64_t columns) {
  x += blockIdx.y * rows * columns + blockIdx.x;
  float max = -INFINITY;
  for (int64_t row = threadIdx.x; row < rows; row += 64) max = fmaxf(max, x[row * columns]);
  float* const best = y + blockIdx.y * columns + blockIdx.x;
  if (max > *best) *best = max;
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const dim3 grid(s.dim2, s.batch_size);
  clear<<<grid, 1, 0, stream>>>(y);
  max_columns<<<grid, 64, 0, stream>>>(x, y, s.dim1, s.dim2);
}
