#include "task.h"

#include <cmath>

// A block searches 32 neighbouring columns of one matrix; each of its 16 warps takes every 16th
// row.
__global__ void min_rows(const float* x, float* y, int64_t rows, int64_t columns) {
  __shared__ float mins[16][32];
  const int64_t tiles = (columns + 31) / 32, matrix = blockIdx.x / tiles;
  const int64_t column = blockIdx.x % tiles * 32 + threadIdx.x;
  float min = INFINITY;
  if (column < columns) {
    x += matrix * rows * columns + column;
#pragma unroll 8
    for (int64_t row = threadIdx.y; row < rows; row += 16) min = fminf(min, x[row * columns]);
  }
  mins[threadIdx.y][threadIdx.x] = min;
  __syncthreads();
  if (threadIdx.y == 0 && column < columns) {
    for (int i = 1; i < 16; ++i) min = fminf(min, mins[i][threadIdx.x]);
    y[matrix * columns + column] = min;
  }
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const int64_t blocks = s.batch_size * ((s.dim2 + 31) / 32);
  min_rows<<<blocks, dim3(32, 16), 0, stream>>>(x, y, s.dim1, s.dim2);
}
