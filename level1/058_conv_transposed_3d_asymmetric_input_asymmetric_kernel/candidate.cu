#include "task.h"

constexpr int channels = 16, columns = 2, slice = 8, threads = 256;
constexpr int pixels = columns * threads;  // of y, one block's

__device__ bool within(int i, int n) { return static_cast<unsigned>(i) < static_cast<unsigned>(n); }

// A term: its weight for channel 0 of y, its element of x, seen from its pixel.
struct Tap {
  int64_t weight, offset;
  int d, h, w;
};

// Each thread gathers 16 channels of 2 pixels, 256 apart, where a pixel is one (depth, height,
// width) of y. Their terms count (channel, tap); the weights of a slice of them pass through
// shared memory and serve the whole block. Channels beyond the last one repeat it and count for
// nothing.
__global__ void __launch_bounds__(threads, 2)
    conv_transpose(task::Sizes s, int kernel_d, int kernel_h, int kernel_w, const float* x,
                   const float* weight, float* y) {
  __shared__ __align__(16) float w_tile[slice][channels + 4];  // + 4: fewer bank conflicts
  __shared__ Tap taps[slice];

  const int kernel_volume = kernel_d * kernel_h * kernel_w, terms = s.in_channels * kernel_volume;
  const int64_t height = s.height_in + kernel_h - 1, width = s.width_in + kernel_w - 1;
  const int64_t volume = (s.depth_in + kernel_d - 1) * height * width;
  const int64_t tiles = (volume + pixels - 1) / pixels;
  const int64_t sample = blockIdx.x / tiles, pixel0 = blockIdx.x % tiles * pixels;
  const int64_t channel0 = int64_t{blockIdx.y} * channels;
  const int thread = threadIdx.x;

  int d[columns], h[columns], w[columns];
  int64_t first[columns];
  for (int j = 0; j < columns; ++j) {
    const int64_t pixel = pixel0 + thread + threads * j;
    d[j] = pixel / (height * width), h[j] = pixel / width % height, w[j] = pixel % width;
    first[j] = (d[j] * s.height_in + h[j]) * s.width_in + w[j];
  }
  x += sample * s.in_channels * s.depth_in * s.height_in * s.width_in;
  float sum[channels][columns] = {};
  for (int k0 = 0; k0 < terms; k0 += slice) {
    if (thread < slice) {
      const int term = min(k0 + thread, terms - 1);
      const int64_t channel = term / kernel_volume;
      const int p = term / (kernel_h * kernel_w) % kernel_d, q = term / kernel_w % kernel_h,
                r = term % kernel_w;
      taps[thread] = {channel * s.out_channels * kernel_volume + term % kernel_volume,
                      ((channel * s.depth_in - p) * s.height_in - q) * s.width_in - r, -p, -q, -r};
    }
    __syncthreads();
    for (int i = thread; i < slice * channels; i += threads) {
      const int64_t from = min(channel0 + i / slice, s.out_channels - 1);
      w_tile[i % slice][i / slice] = weight[taps[i % slice].weight + from * kernel_volume];
    }
    float part[slice][columns];
    for (int i = 0; i < slice; ++i) {
      const Tap tap = taps[i];  // No branches, so that the loads of a slice overlap.
      for (int j = 0; j < columns; ++j) {
        const bool inside = (k0 + i < terms) & within(d[j] + tap.d, s.depth_in) &
                            within(h[j] + tap.h, s.height_in) & within(w[j] + tap.w, s.width_in);
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
      if (channel < s.out_channels && to < volume) {
        y[(sample * s.out_channels + channel) * volume + to] = sum[i][j];
      }
    }
  }
}

void task::launch(const Sizes& s, const float* x, const float* weight, float* y,
                  cudaStream_t stream) {
  const auto [kernel_d, kernel_h, kernel_w] = s.kernel_size;
  const int64_t volume =
      (s.depth_in + kernel_d - 1) * (s.height_in + kernel_h - 1) * (s.width_in + kernel_w - 1);
  const dim3 grid((volume + pixels - 1) / pixels * s.batch_size,
                  (s.out_channels + channels - 1) / channels);
  conv_transpose<<<grid, threads, 0, stream>>>(s, kernel_d, kernel_h, kernel_w, x, weight, y);
}
