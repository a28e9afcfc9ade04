// Batched product in tiles of 32 x 32; each thread has a column of four outputs in registers.
// Task: level1/003_batched_matrix_multiplication
// Expected: pass
#include "task.h"

constexpr int tile = 32, each = 4;

__global__ void multiply(const float* a, const float* b, float* c, int64_t m, int64_t k,
                         int64_t n) {
  __shared__ float a_tile[tile][tile + 1], b_tile[tile][tile];
  a += blockIdx.z * m * k;
  b += blockIdx.z * k * n;
  c += blockIdx.z * m * n;
  const int64_t first_row = int64_t{blockIdx.y} * tile;
  const int64_t column = int64_t{blockIdx.x} * tile + threadIdx.x;
  float sums[each] = {0, 0, 0, 0};
  for (int64_t first = 0; first < k; first += tile) {
    for (int i = threadIdx.y; i < tile; i += tile / each) {
      const int64_t row = first_row + i, in_a = first + threadIdx.x, in_b = first + i;
      a_tile[i][threadIdx.x] = row < m && in_a < k ? a[row * k + in_a] : 0.0f;
      b_tile[i][threadIdx.x] = in_b < k && column < n ? b[in_b * n + column] : 0.0f;
    }
    __syncthreads();
    for (int d = 0; d < tile; ++d) {
      const float right = b_tile[d][threadIdx.x];
      for (int i = 0; i < each; ++i) {
        sums[i] = fmaf(a_tile[threadIdx.y * each + i][d], right, sums[i]);
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < each; ++i) {
    const int64_t row = first_row + threadIdx.y * each + i;
    if (row < m && column < n) c[row * n + column] = sums[i];
  }
}

void task::launch(const Sizes& s, const float* a, const float* b, float* c, cudaStream_t stream) {
  const dim3 blocks((s.n + tile - 1) / tile, (s.m + tile - 1) / tile, s.batch_size);
  multiply<<<blocks, dim3(tile, tile / each), 0, stream>>>(a, b, c, s.m, s.k, s.n);
}
