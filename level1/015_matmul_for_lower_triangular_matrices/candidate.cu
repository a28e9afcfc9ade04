#include "task.h"

constexpr int tile = 128, depth = 16, threads = 256;

// A block computes a tile of C, each thread 8 neighbouring rows of 8 columns, 16 apart. Slices of A
// and B pass through shared memory; what lies outside the matrices counts as zero. a[i][k] *
// b[k][j] is zero unless j <= k <= i.
__global__ void __launch_bounds__(threads, 2)
    matmul(const float* a, const float* b, float* c, int64_t n) {
  __shared__ __align__(16) float a_tile[depth][tile + 4];  // + 4: fewer bank conflicts
  __shared__ float b_tile[depth][tile];
  const int64_t row0 = int64_t{gridDim.y - 1 - blockIdx.y} * tile;  // the longest sums start first
  const int64_t column0 = int64_t{blockIdx.x} * tile;
  const int row = threadIdx.x / 16 * 8, column = threadIdx.x % 16;
  const int64_t end = row0 + tile < n ? row0 + tile : n;
  float sum[8][8] = {};
  for (int64_t k0 = column0; k0 < end; k0 += depth) {
    for (int i = threadIdx.x; i < tile * depth; i += threads) {
      const int64_t a_row = row0 + i / depth, a_k = k0 + i % depth;
      a_tile[i % depth][i / depth] = a_row < n && a_k < end ? a[a_row * n + a_k] : 0;
      const int64_t b_k = k0 + i / tile, b_column = column0 + i % tile;
      b_tile[i / tile][i % tile] = b_k < end && b_column < n ? b[b_k * n + b_column] : 0;
    }
    __syncthreads();
    for (int k = 0; k < depth; ++k) {
      float a_part[8], b_part[8];
      for (int i = 0; i < 8; ++i) a_part[i] = a_tile[k][row + i];
      for (int j = 0; j < 8; ++j) b_part[j] = b_tile[k][column + 16 * j];
      for (int i = 0; i < 8; ++i) {
        for (int j = 0; j < 8; ++j) sum[i][j] = fmaf(a_part[i], b_part[j], sum[i][j]);
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) {
      const int64_t y = row0 + row + i, x = column0 + column + 16 * j;
      if (y < n && x < n) c[y * n + x] = sum[i][j];
    }
  }
}

void task::launch(const Sizes& s, const float* a, const float* b, float* c, cudaStream_t stream) {
  const unsigned tiles = (s.M + tile - 1) / tile;
  matmul<<<dim3(tiles, tiles), threads, 0, stream>>>(a, b, c, s.M);
}
