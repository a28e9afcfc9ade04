#include "task.h"

constexpr int rows = 8, columns = 8, slice = 16, threads = 256;
constexpr int channels = threads / 32 * rows, pixels = 32 * columns;  // of y, one block's tile
static_assert(pixels == threads, "each thread fetches the terms of one pixel");

// One axis. Its outputs phase, phase + stride, ... gather through the taps first, first + step, ...
// alone, `count` of them.
struct Axis {
  int in, out, kernel, stride, padding, dilation;
  int phase, first, step, count;

  __device__ void enter(int new_phase) {
    phase = new_phase, first = 0, step = 1;
    while (first < kernel && (phase + padding - first * dilation) % stride != 0) ++first;
    while (step * dilation % stride != 0) ++step;
    count = (kernel - first + step - 1) / step;
  }
  __device__ int tap(int i) const { return first + step * i; }
  // The input that output `phase` gets through tap(i); output phase + stride * j: j further on.
  __device__ int input(int i) const { return (phase + padding - tap(i) * dilation) / stride; }
};

__device__ bool within(int i, int n) { return static_cast<unsigned>(i) < static_cast<unsigned>(n); }

// A term: its weight for channel 0 of y, its element of x, seen from its pixel.
struct Tap {
  int64_t weight, offset;
  int shift;
};

// As a matrix product: weight [out_channels, terms] times what each pixel gathers from x [terms,
// pixels], where terms counts (channel, tap) and a pixel is one position of y. A block serves one
// phase: outputs whose positions leave one remainder by the stride and therefore share their
// taps. It computes 64 channels of 256 of their pixels, each warp 8 channels, each lane 8 pixels,
// 32 apart; slices of both matrices pass through shared memory. Channels beyond the last one
// repeat it and count for nothing.
__global__ void __launch_bounds__(threads, 2)
    conv_transpose(task::Sizes s, Axis length, const float* x, const float* weight, float* y) {
  __shared__ __align__(16) float w_tile[slice][channels + 4];  // + 4: fewer bank conflicts
  __shared__ float x_tile[slice][pixels];
  __shared__ Tap taps[slice];
  length.enter(blockIdx.x % length.stride);
  const int terms = s.in_channels * length.count;
  const int64_t positions =
      (length.out + length.stride - 1) / length.stride;  // at most, of a phase
  const int64_t tiles = (positions + pixels - 1) / pixels;
  const int64_t block = blockIdx.x / length.stride, sample = block / tiles;
  const int64_t pixel0 = block % tiles * pixels;
  const int64_t channel0 = int64_t{blockIdx.y} * channels;
  const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;

  const int position = pixel0 + thread;
  x += sample * s.in_channels * length.in;
  float sum[rows][columns] = {};
  for (int k0 = 0; k0 < terms; k0 += slice) {
    if (thread < slice) {
      const int term = min(k0 + thread, terms - 1);
      const int64_t channel = term / length.count;
      const int tap = length.tap(term % length.count), shift = length.input(term % length.count);
      taps[thread] = {channel * s.out_channels * length.kernel + tap, channel * length.in + shift,
                      shift};
    }
    __syncthreads();
    for (int i = 0; i < channels; i += threads / slice) {
      const int channel = i + thread / slice;
      const int64_t from = min(channel0 + channel, s.out_channels - 1);
      w_tile[thread % slice][channel] = weight[taps[thread % slice].weight + from * length.kernel];
    }
    for (int i = 0; i < slice; ++i) {
      const Tap tap = taps[i];  // No branches, so that the loads of a slice overlap.
      const bool inside = within(position + tap.shift, length.in);
      const float value = x[inside ? tap.offset + position : 0];
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
      const int64_t to = (pixel0 + lane + 32 * j) * length.stride + length.phase;
      if (channel < s.out_channels && to < length.out) {
        y[(sample * s.out_channels + channel) * length.out + to] = sum[i][j];
      }
    }
  }
}

void task::launch(const Sizes& s, const float* x, const float* weight, float* y,
                  cudaStream_t stream) {
  const Axis length = {int(s.length), int(s.out_length()), int(s.kernel_size),
                       int(s.stride), int(s.padding),      int(s.dilation)};
  const int64_t positions = (length.out + length.stride - 1) / length.stride;
  const dim3 grid((positions + pixels - 1) / pixels * s.batch_size * length.stride,
                  (s.out_channels + channels - 1) / channels);
  conv_transpose<<<grid, threads, 0, stream>>>(s, length, x, weight, y);
}
