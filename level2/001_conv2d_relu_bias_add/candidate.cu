#include "task.h"

constexpr int tile = 128, slice = 16, threads = 256;

// The convolution as a matrix product: weight [out_channels, depth] times the patches of x
// [depth, pixels], where depth counts (channel, tap row, tap column) and a pixel is one
// (sample, row, column) of y. A block computes a tile of it, each thread 8 x 8 elements, 16 apart,
// and applies both biases and the ReLU as it stores them.
__global__ void __launch_bounds__(threads, 2)
    conv_relu_bias(task::Sizes s, const float* x, const float* bias, const float* weight,
                   const float* conv_bias, float* y) {
  __shared__ float w_tile[slice][tile + 2], x_tile[slice][tile];  // + 2: no bank conflicts
  const int64_t width = s.width - s.kernel_size + 1;
  const int64_t area = width * (s.height - s.kernel_size + 1), pixels = s.batch_size * area;
  const int kernel = s.kernel_size, depth = s.in_channels * kernel * kernel;
  const int64_t pixel0 = int64_t{blockIdx.x} * tile, channel0 = int64_t{blockIdx.y} * tile;

  // This thread fetches elements of one patch, that of `pixel`.
  const int64_t pixel = pixel0 + threadIdx.x % tile;
  const float* patch = x + pixel / area * s.in_channels * s.height * s.width +
                       pixel % area / width * s.width + pixel % area % width;
  const int row = threadIdx.x / 16, column = threadIdx.x % 16;
  float sum[8][8] = {};
  for (int k0 = 0; k0 < depth; k0 += slice) {
    for (int i = threadIdx.x; i < tile * slice; i += threads) {
      const int64_t channel = channel0 + i / slice, k = k0 + i % slice;
      w_tile[i % slice][i / slice] =
          channel < s.out_channels && k < depth ? weight[channel * depth + k] : 0;
    }
    for (int i = threadIdx.x / tile; i < slice; i += threads / tile) {
      const int k = k0 + i, channel = k / (kernel * kernel), p = k / kernel % kernel,
                q = k % kernel;
      x_tile[i][threadIdx.x % tile] =
          pixel < pixels && k < depth ? patch[(channel * s.height + p) * s.width + q] : 0;
    }
    __syncthreads();
    for (int k = 0; k < slice; ++k) {
      float w_part[8], x_part[8];
      for (int i = 0; i < 8; ++i) w_part[i] = w_tile[k][row + 16 * i];
      for (int j = 0; j < 8; ++j) x_part[j] = x_tile[k][column + 16 * j];
      for (int i = 0; i < 8; ++i) {
        for (int j = 0; j < 8; ++j) sum[i][j] = fmaf(w_part[i], x_part[j], sum[i][j]);
      }
    }
    __syncthreads();
  }
  for (int j = 0; j < 8; ++j) {
    const int64_t to = pixel0 + column + 16 * j;
    for (int i = 0; i < 8; ++i) {
      const int64_t channel = channel0 + row + 16 * i;
      if (to >= pixels || channel >= s.out_channels) continue;
      y[(to / area * s.out_channels + channel) * area + to % area] =
          fmaxf(sum[i][j] + conv_bias[channel], 0) + bias[channel];
    }
  }
}

void task::launch(const Sizes& s, const float* x, const float* bias, const float* conv_weight,
                  const float* conv_bias, float* y, cudaStream_t stream) {
  const int64_t area = (s.height - s.kernel_size + 1) * (s.width - s.kernel_size + 1);
  const dim3 grid((s.batch_size * area + tile - 1) / tile, (s.out_channels + tile - 1) / tile);
  conv_relu_bias<<<grid, threads, 0, stream>>>(s, x, bias, conv_weight, conv_bias, y);
}
