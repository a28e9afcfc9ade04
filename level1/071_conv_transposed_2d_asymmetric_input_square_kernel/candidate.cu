#include "task.h"

constexpr int channels = 32, columns = 2, slice = 8, threads = 256;
constexpr int pixels = columns * threads;  // of y, one block's

__device__ bool within(int i, int n) { return static_cast<unsigned>(i) < static_cast<unsigned>(n); }

// A term: its weight for channel 0 of y, its element of x, seen from its pixel.
struct Tap {
  int64_t weight, offset;
  int row, column;
};

// Each thread gathers 32 channels of 2 pixels, 256 apart, where a pixel is one (row, column) of
// y. Their terms count (channel, tap row, tap column); the weights of a slice of them pass
// through shared memory and serve the whole block. Channels beyond the last one repeat it and
// count for nothing.
__global__ void __launch_bounds__(threads, 2)
    conv_transpose(task::Sizes s, const float* x, const float* weight, float* y) {
  __shared__ __align__(16) float w_tile[slice][channels + 4];  // + 4: fewer bank conflicts
  __shared__ Tap taps[slice];
  const int kernel = s.kernel_size, kernel_area = kernel * kernel,
            terms = s.in_channels * kernel_area;
  const int64_t width = s.width_in + kernel - 1, area = width * (s.height_in + kernel - 1);
  const int64_t tiles = (area + pixels - 1) / pixels;
  const int64_t sample = blockIdx.x / tiles, pixel0 = blockIdx.x % tiles * pixels;
  const int64_t channel0 = int64_t{blockIdx.y} * channels;
  const int thread = threadIdx.x;

  int row[columns], column[columns];
  int64_t first[columns];
  for (int j = 0; j < columns; ++j) {
    const int64_t pixel = pixel0 + thread + threads * j;
    row[j] = pixel / width, column[j] = pixel % width;
    first[j] = row[j] * s.width_in + column[j];
  }
  x += sample * s.in_channels * s.height_in * s.width_in;
  float sum[channels][columns] = {};
  for (int k0 = 0; k0 < terms; k0 += slice) {
    if (thread < slice) {
      const int term = min(k0 + thread, terms - 1);
      const int64_t channel = term / kernel_area;
      const int p = term / kernel % kernel, q = term % kernel;
      taps[thread] = {channel * s.out_channels * kernel_area + term % kernel_area,
                      (channel * s.height_in - p) * s.width_in - q, -p, -q};
    }
    __syncthreads();
    for (int i = thread; i < slice * channels; i += threads) {
      const int64_t from = min(channel0 + i / slice, s.out_channels - 1);
      w_tile[i % slice][i / slice] = weight[taps[i % slice].weight + from * kernel_area];
    }
    float part[slice][columns];
    for (int i = 0; i < slice; ++i) {
      const Tap tap = taps[i];  // No branches, so that the loads of a slice overlap.
      for (int j = 0; j < columns; ++j) {
        const bool inside = (k0 + i < terms) & within(row[j] + tap.row, s.height_in) &
                            within(column[j] + tap.column, s.width_in);
        const float value = x[inside ? first[j] + tap.offset : 0];
        part[i][j] = inside ? value : 0;
      }
    }
    __syncthreads();
    for (int k = 0; k < slice; ++k) {
      for (int i = 0; i < channels; ++i) {
        for (int j = 0; j < columns; ++j) sum[i][j] = fmaf(w_tile[k][i], part[k][j], sum[i][j]);
      }
    }
  }
  for (int i = 0; i < channels; ++i) {
    const int64_t channel = channel0 + i;
    for (int j = 0; j < columns; ++j) {
      const int64_t to = pixel0 + thread + threads * j;
      if (channel < s.out_channels && to < area) {
        y[(sample * s.out_channels + channel) * area + to] = sum[i][j];
      }
    }
  }
}

void task::launch(const Sizes& s, const float* x, const float* weight, float* y,
                  cudaStream_t stream) {
  const int64_t area = (s.height_in + s.kernel_size - 1) * (s.width_in + s.kernel_size - 1);
  const dim3 grid((area + pixels - 1) / pixels * s.batch_size,
                  (s.out_channels + channels - 1) / channels);
  conv_transpose<<<grid, threads, 0, stream>>>(s, x, weight, y);
}
