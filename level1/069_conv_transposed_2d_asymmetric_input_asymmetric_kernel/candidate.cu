#include "task.h"

constexpr int rows = 8, columns = 8, slice = 16, threads = 256;
constexpr int channels = threads / 32 * rows, pixels = 32 * columns;  // of y, one block's tile
static_assert(pixels == threads, "each thread fetches the terms of one pixel");

__device__ bool within(int i, int n) { return static_cast<unsigned>(i) < static_cast<unsigned>(n); }

// A term: its weight for channel 0 of y, its element of x, seen from its pixel.
struct Tap {
  int64_t weight, offset;
  int row, column;
};

// As a matrix product: weight [out_channels, terms] times what each pixel gathers from x [terms,
// pixels], where terms counts (channel, tap row, tap column) and a pixel is one (row, column) of
// y. A block computes 64 channels of 256 pixels, each warp 8 channels, each lane 8 pixels, 32
// apart; slices of both matrices pass through shared memory. What a block fetches beyond their
// edges repeats the last row or column and counts for nothing.
__global__ void __launch_bounds__(threads, 2)
    conv_transpose(task::Sizes s, int kernel_h, int kernel_w, const float* x, const float* weight,
                   float* y) {
  __shared__ __align__(16) float w_tile[slice][channels + 4];  // + 4: fewer bank conflicts
  __shared__ float x_tile[slice][pixels];
  __shared__ Tap taps[slice];
  const int kernel_area = kernel_h * kernel_w, terms = s.in_channels * kernel_area;
  const int64_t width = s.width_in + kernel_w - 1, area = width * (s.height_in + kernel_h - 1);
  const int64_t tiles = (area + pixels - 1) / pixels;
  const int64_t sample = blockIdx.x / tiles, pixel0 = blockIdx.x % tiles * pixels;
  const int64_t channel0 = int64_t{blockIdx.y} * channels;
  const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;

  const int64_t pixel = pixel0 + thread;
  const int row = pixel / width, column = pixel % width;
  const int64_t first = row * s.width_in + column;
  x += sample * s.in_channels * s.height_in * s.width_in;
  float sum[rows][columns] = {};
  for (int k0 = 0; k0 < terms; k0 += slice) {
    if (thread < slice) {
      const int term = min(k0 + thread, terms - 1);
      const int64_t channel = term / kernel_area;
      const int p = term / kernel_w % kernel_h, q = term % kernel_w;
      taps[thread] = {channel * s.out_channels * kernel_area + term % kernel_area,
                      (channel * s.height_in - p) * s.width_in - q, -p, -q};
    }
    __syncthreads();
    for (int i = 0; i < channels; i += threads / slice) {
      const int channel = i + thread / slice;
      const int64_t from = min(channel0 + channel, s.out_channels - 1);
      w_tile[thread % slice][channel] = weight[taps[thread % slice].weight + from * kernel_area];
    }
    for (int i = 0; i < slice; ++i) {
      const Tap tap = taps[i];  // No branches, so that the loads of a slice overlap.
      const bool inside =
          within(row + tap.row, s.height_in) & within(column + tap.column, s.width_in);
      const float value = x[inside ? first + tap.offset : 0];
      x_tile[i][thread] = inside ? value : 0;
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

void task::launch(const Sizes& s, const float* x, const float* weight, float* y,
                  cudaStream_t stream) {
  const auto [kernel_h, kernel_w] = s.kernel_size;
  const int64_t area = (s.height_in + kernel_h - 1) * (s.width_in + kernel_w - 1);
  const dim3 grid((area + pixels - 1) / pixels * s.batch_size,
                  (s.out_channels + channels - 1) / channels);
  conv_transpose<<<grid, threads, 0, stream>>>(s, kernel_h, kernel_w, x, weight, y);
}
