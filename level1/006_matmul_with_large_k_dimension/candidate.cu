#include "task.h"

constexpr int tile = 128, depth = 16, threads = 256;

// Block (i, j) computes tile i of part j: the product of A's columns and B's rows from j * span on.
// Each thread has 8 neighbouring rows of 8 columns, 16 apart. Slices of A and B pass through shared
// memory; what lies outside the matrices counts as zero.
__global__ void __launch_bounds__(threads, 2)
    matmul_parts(const float* a, const float* b, float* parts, int64_t rows, int64_t inner,
                 int64_t columns, int64_t span) {
  __shared__ __align__(16) float a_tile[depth][tile + 4];  // + 4: fewer bank conflicts
  __shared__ float b_tile[depth][tile];
  const int64_t tiles = (columns + tile - 1) / tile;  // across C
  const int64_t row0 = blockIdx.x / tiles * tile, column0 = blockIdx.x % tiles * tile;
  const int64_t begin = blockIdx.y * span, end = begin + span < inner ? begin + span : inner;
  const int row = threadIdx.x / 16 * 8, column = threadIdx.x % 16;
  float sum[8][8] = {};
  for (int64_t k0 = begin; k0 < end; k0 += depth) {
    for (int i = threadIdx.x; i < tile * depth; i += threads) {
      const int64_t a_row = row0 + i / depth, a_k = k0 + i % depth;
      a_tile[i % depth][i / depth] = a_row < rows && a_k < end ? a[a_row * inner + a_k] : 0;
      const int64_t b_k = k0 + i / tile, b_column = column0 + i % tile;
      b_tile[i / tile][i % tile] =
          b_k < end && b_column < columns ? b[b_k * columns + b_column] : 0;
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
      if (y < rows && x < columns) parts[(blockIdx.y * rows + y) * columns + x] = sum[i][j];
    }
  }
}

// One thread per element.
__global__ void sum_parts(const float* parts, float* c, int64_t size, int count) {
  const int64_t i = int64_t{blockIdx.x} * threads + threadIdx.x;
  if (i >= size) return;
  float sum = 0;
#pragma unroll 8
  for (int j = 0; j < count; ++j) sum += parts[j * size + i];
  c[i] = sum;
}

void task::launch(const Sizes& s, const float* a, const float* b, float* c, cudaStream_t stream) {
  const int64_t tiles = (s.M + tile - 1) / tile * ((s.N + tile - 1) / tile), size = s.M * s.N;
  // About 512 blocks in all, none with fewer than 256 products per element.
  const int64_t wanted = 512 / tiles < s.K / 256 ? 512 / tiles : s.K / 256;
  const int64_t slices = (s.K + depth - 1) / depth;
  const int64_t span = wanted > 1 ? (slices + wanted - 1) / wanted * depth : s.K;
  const dim3 grid(tiles, (s.K + span - 1) / span);
  void* parts;
  cudaMallocAsync(&parts, grid.y * size * sizeof(float), stream);
  matmul_parts<<<grid, threads, 0, stream>>>(a, b, static_cast<float*>(parts), s.M, s.K, s.N, span);
  sum_parts<<<(size + threads - 1) / threads, threads, 0, stream>>>(static_cast<float*>(parts), c,
                                                                    size, grid.y);
  cudaFreeAsync(parts, stream);
}
