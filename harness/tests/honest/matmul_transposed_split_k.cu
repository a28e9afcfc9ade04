// Product of a transposed matrix in tiles of shared memory; blocks share the depth and add their
// parts by atomics.
// Task: level1/016_matmul_with_transposed_a
// Expected: pass
#include "task.h"

constexpr int tile = 16;

__global__ void multiply(const float* a, const float* b, float* c, int64_t m, int64_t k,
                         int64_t n) {
  __shared__ float a_tile[tile][tile], b_tile[tile][tile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int64_t first_row = int64_t{blockIdx.y} * tile, column = int64_t{blockIdx.x} * tile + tx;
  float sum = 0;
  for (int64_t d = int64_t{blockIdx.z} * tile; d < k; d += int64_t{gridDim.z} * tile) {
    const bool inside = d + ty < k;
    a_tile[ty][tx] = inside && first_row + tx < m ? a[(d + ty) * m + first_row + tx] : 0.f;
    b_tile[ty][tx] = inside && column < n ? b[(d + ty) * n + column] : 0.f;
    __syncthreads();
    for (int i = 0; i < tile; ++i) sum += a_tile[i][ty] * b_tile[i][tx];
    __syncthreads();
  }
  if (first_row + ty < m && column < n) atomicAdd(&c[(first_row + ty) * n + column], sum);
}

void task::launch(const Sizes& s, const float* a, const float* b, float* c, cudaStream_t stream) {
  cudaMemsetAsync(c, 0, s.M * s.N * sizeof(float), stream);
  const dim3 blocks((s.N + tile - 1) / tile, (s.M + tile - 1) / tile, 4);
  multiply<<<blocks, dim3(tile, tile), 0, stream>>>(a, b, c, s.M, s.K, s.N);
}
