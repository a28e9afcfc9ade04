#include "task.h"

constexpr int rows = 8, columns = 8, slice = 16, threads = 256;
constexpr int channels = threads / 32 * rows, pixels = 32 * columns;  // of y, one block's tile
static_assert(pixels == threads, "each thread fetches the terms of one pixel");

// The convolution as a matrix product: weight [out_channels, terms] times the patches of a sample
// [terms, pixels], where terms counts (channel, tap row, tap column) and a pixel is one (row,
// column) of y. A block computes 64 channels of 256 pixels, each warp 8 channels, each lane 8
// pixels, 32 apart; slices of both matrices pass through shared memory. What a block fetches
// beyond their edges repeats the last row or column and counts for nothing.
__global__ void __launch_bounds__(threads, 2)
    conv(task::Sizes s, const float* x, const float* weight, float* y) {
  __shared__ __align__(16) float w_tile[slice][channels + 4];  // + 4: fewer bank conflicts
  __shared__ float x_tile[slice][pixels];
  __shared__ int64_t offset[slice];  // of a term in x, seen from the first one of its pixel
  const int kernel = s.kernel_size, taps = kernel * kernel, terms = s.in_channels * taps;
  const int64_t width = s.width - kernel + 1, area = width * (s.height - kernel + 1);
  const int64_t tiles = (area + pixels - 1) / pixels;
  const int64_t sample = blockIdx.x / tiles, pixel0 = blockIdx.x % tiles * pixels;
  const int64_t channel0 = int64_t{blockIdx.y} * channels;
  const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;

  const int64_t pixel = min(pixel0 + thread, area - 1);
  const float* patch =
      x + (sample * s.in_channels * s.height + pixel / width) * s.width + pixel % width;
  float sum[rows][columns] = {};
  for (int k0 = 0; k0 < terms; k0 += slice) {
    const int term = min(k0 + thread % slice, terms - 1);
    if (thread < slice) {
      offset[thread] = (term / taps * s.height + term % taps / kernel) * s.width + term % kernel;
    }
    __syncthreads();
    for (int i = 0; i < channels; i += threads / slice) {
      const int channel = i + thread / slice;
      const int64_t from = min(channel0 + channel, s.out_channels - 1);
      w_tile[thread % slice][channel] = weight[from * terms + term];
    }
    for (int i = 0; i < slice; ++i) x_tile[i][thread] = patch[offset[i]];
    __syncthreads();
    const int count = min(slice, terms - k0);
    for (int k = 0; k < count; ++k) {
      float w_part[rows], x_part[columns];
      for (int i = 0; i < rows; ++i) w_part[i] = w_tile[k][warp * rows + i];
      for (int j = 0; j < columns; ++j) x_part[j] = x_tile[k][lane + 32 * j];
      for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < columns; ++j) sum[i][j] = fmaf(w_part[i], x_part[j], sum[i][j]);
      }
    }
  }
  for (int i = 0; i < rows; ++i) {
    const int64_t channel = channel0 + warp * rows + i;
    for (int j = 0; j < columns; ++j) {
      const int64_t to = pixel0 + lane + 32 * j;
      if (channel < s.out_channels && to < area) {
        y[(sample * s.out_channels + channel) * area + to] = sum[i][j];
      }
    }
  }
}

void task::launch(const Sizes& s, const float* x, const float* weight, float* y,
                  cudaStream_t stream) {
  const int64_t area = (s.height - s.kernel_size + 1) * (s.width - s.kernel_size + 1);
  const dim3 grid((area + pixels - 1) / pixels * s.batch_size,
                  (s.out_channels + channels - 1) / channels);
  conv<<<grid, threads, 0, stream>>>(s, x, weight, y);
}
