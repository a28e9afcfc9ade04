#include "task.h"

constexpr int rows = 16, columns = 4, slice = 8, threads = 256;
constexpr int channels = threads / 32 * rows, pixels = 32 * columns;  // of y, one block's tile
constexpr int sharers = threads / pixels, share = slice / sharers;    // of a pixel's depthwise part

__device__ bool within(int i, int n) { return static_cast<unsigned>(i) < static_cast<unsigned>(n); }

// Both convolutions at once. The pointwise one is a matrix product, pointwise [out_channels,
// terms] times z [terms, pixels], of which a block computes 128 channels of 128 pixels, each warp
// 16 channels, each lane 4 pixels, 32 apart; slices of both matrices pass through shared memory.
// A slice of z is computed when it is needed, by two threads per pixel. What lies beyond the
// edges of the matrices repeats the last row or column and counts for nothing.
__global__ void __launch_bounds__(threads, 2)
    separable_conv(task::Sizes s, int64_t width, int64_t area, const float* x,
                   const float* depthwise, const float* pointwise, float* y) {
  __shared__ __align__(16) float w_tile[slice][channels + 4];  // + 4: fewer bank conflicts
  __shared__ float x_tile[slice][pixels];
  const int kernel = s.kernel_size, terms = s.in_channels;
  const int64_t tiles = (area + pixels - 1) / pixels, plane = s.height * s.width;
  const int64_t sample = blockIdx.x / tiles, pixel0 = blockIdx.x % tiles * pixels;
  const int64_t channel0 = int64_t{blockIdx.y} * channels;
  const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;

  const int64_t pixel = min(pixel0 + thread % pixels, area - 1);
  const int row = pixel / width * s.stride - s.padding;
  const int column = pixel % width * s.stride - s.padding;
  x += sample * s.in_channels * plane;
  float sum[rows][columns] = {};
  for (int k0 = 0; k0 < terms; k0 += slice) {
    float part[share] = {};
    for (int p = 0; p < kernel; ++p) {
      for (int q = 0; q < kernel; ++q) {
        const int h = row + p * s.dilation, w = column + q * s.dilation;
        const bool inside = within(h, s.height) & within(w, s.width);
        const int64_t from = inside ? h * s.width + w : 0;
        for (int i = 0; i < share; ++i) {
          const int64_t term = min(k0 + thread / pixels * share + i, terms - 1);
          const float value = x[term * plane + from];
          part[i] = fmaf(depthwise[(term * kernel + p) * kernel + q], inside ? value : 0, part[i]);
        }
      }
    }
    __syncthreads();
    for (int i = 0; i < share; ++i) x_tile[thread / pixels * share + i][thread % pixels] = part[i];
    const int term = min(k0 + thread % slice, terms - 1);
    for (int i = 0; i < channels; i += threads / slice) {
      const int channel = i + thread / slice;
      const int64_t from = min(channel0 + channel, s.out_channels - 1);
      w_tile[thread % slice][channel] = pointwise[from * terms + term];
    }
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

void task::launch(const Sizes& s, const float* x, const float* depthwise, const float* pointwise,
                  float* y, cudaStream_t stream) {
  const int64_t width = s.out_width(), area = width * s.out_height();
  const dim3 grid((area + pixels - 1) / pixels * s.batch_size,
                  (s.out_channels + channels - 1) / channels);
  separable_conv<<<grid, threads, 0, stream>>>(s, width, area, x, depthwise, pointwise, y);
}
