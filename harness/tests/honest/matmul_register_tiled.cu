// Square product in tiles of 64 x 64 in shared memory and 4 x 4 in registers.
// Task: level1/001_square_matrix_multiplication
// Expected: pass
#include "task.h"

constexpr int tile = 64, depth = 16, each = 4, side = tile / each;

__global__ void multiply(const float* a, const float* b, float* c, int64_t n) {
  __shared__ float a_tile[depth][tile], b_tile[depth][tile];
  const int thread = threadIdx.y * side + threadIdx.x;
  const int64_t row = int64_t{blockIdx.y} * tile, column = int64_t{blockIdx.x} * tile;
  float sums[each][each] = {};
  for (int64_t k = 0; k < n; k += depth) {
    for (int i = thread; i < tile * depth; i += side * side) {
      const int64_t r = row + i / depth, ka = k + i % depth;
      a_tile[i % depth][i / depth] = r < n && ka < n ? a[r * n + ka] : 0;
      const int64_t kb = k + i / tile, col = column + i % tile;
      b_tile[i / tile][i % tile] = kb < n && col < n ? b[kb * n + col] : 0;
    }
    __syncthreads();
    for (int d = 0; d < depth; ++d) {
      for (int i = 0; i < each; ++i) {
        for (int j = 0; j < each; ++j) {
          sums[i][j] += a_tile[d][threadIdx.y * each + i] * b_tile[d][threadIdx.x * each + j];
        }
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < each; ++i) {
    for (int j = 0; j < each; ++j) {
      const int64_t r = row + threadIdx.y * each + i, col = column + threadIdx.x * each + j;
      if (r < n && col < n) c[r * n + col] = sums[i][j];
    }
  }
}

void task::launch(const Sizes& s, const float* a, const float* b, float* c, cudaStream_t stream) {
  const unsigned blocks = (s.N + tile - 1) / tile;
  multiply<<<dim3(blocks, blocks), dim3(side, side), 0, stream>>>(a, b, c, s.N);
}
