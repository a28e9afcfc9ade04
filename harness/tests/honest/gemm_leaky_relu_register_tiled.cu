// Linear layer in tiles with 2 x 2 outputs per thread; factor and leaky ReLU where it is stored.
// Task: level2/012_gemm_multiply_leaky_relu
// Expected: pass
#include "task.h"

constexpr int tile = 32, half = tile / 2;

__global__ void gemm(const float* x, const float* w, const float* bias, float* y, int64_t rows,
                     int64_t depth, int64_t columns, float multiplier, float slope) {
  __shared__ float x_tile[tile][tile + 1], w_tile[tile][tile + 1];
  const int64_t row = int64_t{blockIdx.y} * tile, column = int64_t{blockIdx.x} * tile;
  const int tx = threadIdx.x, ty = threadIdx.y;
  float sums[2][2] = {};
  for (int64_t k = 0; k < depth; k += tile) {
    for (int i = ty; i < tile; i += half) {
      for (int j = tx; j < tile; j += half) {
        const bool inside = k + j < depth;
        x_tile[i][j] = inside && row + i < rows ? x[(row + i) * depth + k + j] : 0;
        w_tile[i][j] = inside && column + i < columns ? w[(column + i) * depth + k + j] : 0;
      }
    }
    __syncthreads();
    for (int d = 0; d < tile; ++d) {
      const float x0 = x_tile[ty][d], x1 = x_tile[ty + half][d];
      const float w0 = w_tile[tx][d], w1 = w_tile[tx + half][d];
      sums[0][0] += x0 * w0;
      sums[0][1] += x0 * w1;
      sums[1][0] += x1 * w0;
      sums[1][1] += x1 * w1;
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      const int64_t r = row + ty + i * half, c = column + tx + j * half;
      if (r >= rows || c >= columns) continue;
      const float v = (sums[i][j] + bias[c]) * multiplier;
      y[r * columns + c] = v > 0 ? v : v * slope;
    }
  }
}

void task::launch(const Sizes& s, const float* x, const float* weight, const float* bias, float* y,
                  cudaStream_t stream) {
  const dim3 blocks((s.out_features + tile - 1) / tile, (s.batch_size + tile - 1) / tile);
  gemm<<<blocks, dim3(half, half), 0, stream>>>(x, weight, bias, y, s.batch_size, s.in_features,
                                                s.out_features, static_cast<float>(s.multiplier),
                                                static_cast<float>(s.negative_slope));
}
