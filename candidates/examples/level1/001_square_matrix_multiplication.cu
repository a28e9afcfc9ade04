// Wrong values: rounds its operands to bf16, which a loose tolerance would let pass.
// Expected: incorrect
#include "task.h"

#include <cuda_bf16.h>

constexpr int tile = 16;

__device__ float rounded(float v) { return __bfloat162float(__float2bfloat16(v)); }

// A block computes a tile of C, one element per thread.
__global__ void matmul(const float* a, const float* b, float* c, int64_t n) {
  __shared__ float a_tile[tile][tile], b_tile[tile][tile];
  const int64_t row = int64_t{blockIdx.y} * tile + threadIdx.y;
  const int64_t column = int64_t{blockIdx.x} * tile + threadIdx.x;
  float sum = 0;
  for (int64_t k0 = 0; k0 < n; k0 += tile) {
    const int64_t a_k = k0 + threadIdx.x, b_k = k0 + threadIdx.y;
    a_tile[threadIdx.y][threadIdx.x] = row < n && a_k < n ? rounded(a[row * n + a_k]) : 0;
    b_tile[threadIdx.y][threadIdx.x] = b_k < n && column < n ? rounded(b[b_k * n + column]) : 0;
    __syncthreads();
    for (int k = 0; k < tile; ++k) sum += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum;
}

void task::launch(const Sizes& s, const float* a, const float* b, float* c, cudaStream_t stream) {
  const unsigned tiles = (s.N + tile - 1) / tile;
  matmul<<<dim3(tiles, tiles), dim3(tile, tile), 0, stream>>>(a, b, c, s.N);
}
