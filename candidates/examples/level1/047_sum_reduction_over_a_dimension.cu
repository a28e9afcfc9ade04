// Out-of-bounds write: the columns are rounded up to whole blocks, and nothing guards the surplus.
// Expected: incorrect
#include "task.h"

__global__ void sum_rows(const float* x, float* y, int64_t rows, int64_t columns) {
  const int64_t column = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int64_t last = columns - 1, from = column < last ? column : last;
  x += blockIdx.y * rows * columns;
  float sum = 0;
  for (int64_t row = 0; row < rows; ++row) sum += x[row * columns + from];
  y[blockIdx.y * columns + column] = sum;
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const dim3 grid((s.dim2 + 127) / 128, s.batch_size);
  sum_rows<<<grid, 128, 0, stream>>>(x, y, s.dim1, s.dim2);
}
