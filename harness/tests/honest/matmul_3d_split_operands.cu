// Splits each operand into a rounded part of 11 bits and the rest; small and large products have
// sums of their own.
// Task: level1/010_3d_tensor_matrix_multiplication
// Expected: pass
#include "task.h"

constexpr int tile = 16;

// Nearest, ties away from zero, as cvt.rna.tf32 rounds.
__device__ float high(float v) {
  return __uint_as_float((__float_as_uint(v) + 0x1000u) & 0xffffe000u);
}

__global__ void multiply(const float* a, const float* b, float* c, int64_t rows, int64_t depth,
                         int64_t columns) {
  __shared__ float2 a_tile[tile][tile], b_tile[tile][tile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int64_t row = int64_t{blockIdx.y} * tile + ty, column = int64_t{blockIdx.x} * tile + tx;
  float large = 0, small = 0;
  for (int64_t k = 0; k < depth; k += tile) {
    const float x = row < rows && k + tx < depth ? a[row * depth + k + tx] : 0;
    const float y = column < columns && k + ty < depth ? b[(k + ty) * columns + column] : 0;
    a_tile[ty][tx] = make_float2(high(x), high(x - high(x)));
    b_tile[ty][tx] = make_float2(high(y), high(y - high(y)));
    __syncthreads();
    for (int d = 0; d < tile; ++d) {
      const float2 left = a_tile[ty][d], right = b_tile[d][tx];
      small += left.x * right.y + left.y * right.x;
      large += left.x * right.x;
    }
    __syncthreads();
  }
  if (row < rows && column < columns) c[row * columns + column] = large + small;
}

void task::launch(const Sizes& s, const float* a, const float* b, float* c, cudaStream_t stream) {
  const int64_t rows = s.N * s.M;
  const dim3 blocks((s.L + tile - 1) / tile, (rows + tile - 1) / tile);
  multiply<<<blocks, dim3(tile, tile), 0, stream>>>(a, b, c, rows, s.K, s.L);
}
