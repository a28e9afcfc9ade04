#include "task.h"

#include <cfloat>

constexpr int tile = 128, slice = 16, threads = 256;

// y = (x * transpose(weight) + bias) * mask * factor. A block computes a tile of y, each thread
// 8 x 8 elements of it, 16 apart. Slices of x and weight pass through shared memory; what lies
// outside the matrices counts as zero.
__global__ void linear_dropout(task::Sizes s, const float* x, const bool* mask, const float* weight,
                               const float* bias, float factor, float* y) {
  __shared__ float x_tile[slice][tile + 2], w_tile[slice][tile + 2];  // + 2: no bank conflicts
  const int64_t sample0 = int64_t{blockIdx.y} * tile, feature0 = int64_t{blockIdx.x} * tile;
  const int row = threadIdx.x / 16, column = threadIdx.x % 16;
  float sum[8][8] = {};
  for (int64_t k0 = 0; k0 < s.in_features; k0 += slice) {
    for (int i = threadIdx.x; i < tile * slice; i += threads) {
      const int64_t k = k0 + i % slice, sample = sample0 + i / slice,
                    feature = feature0 + i / slice;
      x_tile[i % slice][i / slice] =
          sample < s.batch_size && k < s.in_features ? x[sample * s.in_features + k] : 0;
      w_tile[i % slice][i / slice] =
          feature < s.out_features && k < s.in_features ? weight[feature * s.in_features + k] : 0;
    }
    __syncthreads();
    for (int k = 0; k < slice; ++k) {
      float x_part[8], w_part[8];
      for (int i = 0; i < 8; ++i) x_part[i] = x_tile[k][row + 16 * i];
      for (int j = 0; j < 8; ++j) w_part[j] = w_tile[k][column + 16 * j];
      for (int i = 0; i < 8; ++i) {
        for (int j = 0; j < 8; ++j) sum[i][j] = fmaf(x_part[i], w_part[j], sum[i][j]);
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) {
      const int64_t sample = sample0 + row + 16 * i, feature = feature0 + column + 16 * j;
      if (sample >= s.batch_size || feature >= s.out_features) continue;
      const int64_t at = sample * s.out_features + feature;
      y[at] = mask[at] ? (sum[i][j] + bias[feature]) * factor : 0;
    }
  }
}

// The greatest of some values and the sum of exp(value - greatest).
struct Extent {
  float max, sum;
};

__device__ Extent merge(Extent a, Extent b) {
  const float max = fmaxf(a.max, b.max);
  return {max, a.sum * expf(a.max - max) + b.sum * expf(b.max - max)};
}

__device__ Extent merge_warp(Extent e) {
  for (int i = 16; i > 0; i /= 2) {
    e = merge(e, {__shfl_xor_sync(~0u, e.max, i), __shfl_xor_sync(~0u, e.sum, i)});
  }
  return e;
}

// In place, one block of 32 warps per row.
__global__ void softmax(float* y, int64_t dim) {
  __shared__ Extent warps[32];
  y += blockIdx.x * dim;
  Extent e = {-FLT_MAX, 0};
  for (int64_t i = threadIdx.x; i < dim; i += 1024) e = merge(e, {y[i], 1});
  e = merge_warp(e);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = e;
  __syncthreads();
  e = merge_warp(warps[threadIdx.x % 32]);
  for (int64_t i = threadIdx.x; i < dim; i += 1024) y[i] = expf(y[i] - e.max) / e.sum;
}

void task::launch(const Sizes& s, const real* x, const bool* mask, const real* weight,
                  const real* bias, real* y, cudaStream_t stream) {
  const dim3 grid((s.out_features + tile - 1) / tile, (s.batch_size + tile - 1) / tile);
  const float factor = static_cast<float>(1 / (1 - s.dropout_p));
  linear_dropout<<<grid, threads, 0, stream>>>(s, x, mask, weight, bias, factor, y);
  softmax<<<s.batch_size, 1024, 0, stream>>>(y, s.out_features);
}
