#include "task.h"

#include <cmath>

// A block searches 32 neighbouring columns of one matrix; each of its 16 warps takes every 16th
// row.
__global__ void argmin(const float* x, int64_t* index, int64_t rows, int64_t columns) {
  __shared__ float values[16][32];
  __shared__ int64_t places[16][32];
  const int64_t tiles = (columns + 31) / 32, matrix = blockIdx.x / tiles;
  const int64_t column = blockIdx.x % tiles * 32 + threadIdx.x;
  float best = INFINITY;
  int64_t place = threadIdx.y;
  if (column < columns) {
    x += matrix * rows * columns + column;
#pragma unroll 8
    for (int64_t row = threadIdx.y; row < rows; row += 16) {
      const float value = x[row * columns];
      if (value < best) best = value, place = row;
    }
  }
  values[threadIdx.y][threadIdx.x] = best;
  places[threadIdx.y][threadIdx.x] = place;
  __syncthreads();
  if (threadIdx.y == 0 && column < columns) {
    for (int i = 1; i < 16; ++i) {
      const float value = values[i][threadIdx.x];
      const int64_t at = places[i][threadIdx.x];
      if (value < best || (value == best && at < place)) best = value, place = at;
    }
    index[matrix * columns + column] = place;
  }
}

void task::launch(const Sizes& s, const float* x, int64_t* index, cudaStream_t stream) {
  const int64_t blocks = s.batch_size * ((s.dim2 + 31) / 32);
  argmin<<<blocks, dim3(32, 16), 0, stream>>>(x, index, s.dim1, s.dim2);
}
