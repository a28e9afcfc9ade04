#include "task.h"

constexpr int strip = 4, threads = 256;

__device__ bool within(int i, int n) { return static_cast<unsigned>(i) < static_cast<unsigned>(n); }

// Depthwise convolution. A thread computes `strip` neighbouring rows of one column of y, which
// share every weight that it fetches. A block stays within one plane, one channel of one sample:
// all of its threads fetch the same weight at a time, and the rows of x that they share stay in
// the L1 cache.
__global__ void conv(task::Sizes s, int height, int width, int tiles, const float* x,
                     const float* weight, float* y) {
  const int64_t plane = blockIdx.x / tiles;
  const int item = blockIdx.x % tiles * threads + threadIdx.x;
  const int row0 = item / width * strip, column = item % width;
  if (row0 >= height) return;
  x += plane * s.height * s.width;
  weight += plane % s.in_channels * s.kernel_size_h * s.kernel_size_w;
  float sum[strip] = {};
  for (int p = 0; p < s.kernel_size_h; ++p) {
    const float* line[strip];
    bool inside[strip];
    for (int i = 0; i < strip; ++i) {
      const int64_t row = (row0 + i) * s.stride_h - s.padding_h + p * s.dilation_h;
      inside[i] = within(row, s.height);
      line[i] = x + (inside[i] ? row * s.width : 0);
    }
    for (int q = 0; q < s.kernel_size_w; ++q) {
      const int64_t from = column * s.stride_w - s.padding_w + q * s.dilation_w;
      const bool here = within(from, s.width);
      const float w = weight[p * s.kernel_size_w + q];
      for (int i = 0; i < strip; ++i) {
        const float value = line[i][here ? from : 0];
        sum[i] = fmaf(w, inside[i] & here ? value : 0, sum[i]);
      }
    }
  }
  for (int i = 0; i < strip && row0 + i < height; ++i) {
    y[(plane * height + row0 + i) * width + column] = sum[i];
  }
}

void task::launch(const Sizes& s, const float* x, const float* weight, float* y,
                  cudaStream_t stream) {
  const int64_t height = s.out_height(), width = s.out_width();
  const int64_t tiles = ((height + strip - 1) / strip * width + threads - 1) / threads;
  conv<<<s.batch_size * s.in_channels * tiles, threads, 0, stream>>>(s, height, width, tiles, x,
                                                                     weight, y);
}
