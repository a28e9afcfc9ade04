// Shown in prompts: a matrix product in tiles that pass through shared memory.
// Task: level1/002_standard_matrix_multiplication
// Expected: pass
#include "task.h"

constexpr int tile = 64, slice = 16;  // a block computes tile x tile of c, slice by slice of K

__global__ void product(const float* a, const float* b, float* c, int64_t M, int64_t K, int64_t N) {
  __shared__ float a_tile[slice][tile + 1], b_tile[slice][tile];  // + 1: no bank conflicts
  const int64_t row0 = int64_t{blockIdx.y} * tile, column0 = int64_t{blockIdx.x} * tile;
  const int row = threadIdx.x / 16, column = threadIdx.x % 16;
  float sum[4][4] = {};
  for (int64_t k0 = 0; k0 < K; k0 += slice) {
    for (int i = threadIdx.x; i < tile * slice; i += 256) {
      const int64_t m = row0 + i / slice, k = k0 + i % slice;
      a_tile[i % slice][i / slice] = m < M && k < K ? a[m * K + k] : 0;
    }
    for (int i = threadIdx.x; i < slice * tile; i += 256) {
      const int64_t k = k0 + i / tile, n = column0 + i % tile;
      b_tile[i / tile][i % tile] = k < K && n < N ? b[k * N + n] : 0;
    }
    __syncthreads();
    for (int k = 0; k < slice; ++k) {
      for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
          sum[i][j] = fmaf(a_tile[k][row + 16 * i], b_tile[k][column + 16 * j], sum[i][j]);
        }
      }
    }
    __syncthreads();  // the next slice overwrites this one
  }
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      const int64_t m = row0 + row + 16 * i, n = column0 + column + 16 * j;
      if (m < M && n < N) c[m * N + n] = sum[i][j];
    }
  }
}

void task::launch(const Sizes& s, const float* a, const float* b, float* c, cudaStream_t stream) {
  const dim3 blocks((s.N + tile - 1) / tile, (s.M + tile - 1) / tile);
  product<<<blocks, 256, 0, stream>>>(a, b, c, s.M, s.K, s.N);
}
