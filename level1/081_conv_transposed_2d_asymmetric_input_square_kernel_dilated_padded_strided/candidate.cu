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
  int row, column;
};

// As a matrix product: weight [out_channels, terms] times what each pixel gathers from x [terms,
// pixels], where terms counts (channel, tap row, tap column) and a pixel is one (row, column) of
// y. A block serves one phase: outputs whose coordinates leave one remainder each by the stride
// and therefore share their taps. It computes 64 channels of 256 of their pixels, each warp 8
// channels, each lane 8 pixels, 32 apart; slices of both matrices pass through shared memory.
// Channels beyond the last one repeat it and count for nothing.
__global__ void __launch_bounds__(threads, 2)
    conv_transpose(task::Sizes s, Axis height, Axis width, const float* x, const float* weight,
                   float* y) {
  __shared__ __align__(16) float w_tile[slice][channels + 4];  // + 4: fewer bank conflicts
  __shared__ float x_tile[slice][pixels];
  __shared__ Tap taps[slice];
  const int phases = height.stride * width.stride, phase = blockIdx.x % phases;
  height.enter(phase / width.stride);
  width.enter(phase % width.stride);
  const int kernel_area = height.kernel * width.kernel, reaching = height.count * width.count;
  const int terms = s.in_channels * reaching;
  // A phase has at most `area` pixels, `across` to a row.
  const int64_t across = (width.out + width.stride - 1) / width.stride;
  const int64_t area = (height.out + height.stride - 1) / height.stride * across;
  const int64_t tiles = (area + pixels - 1) / pixels;
  const int64_t block = blockIdx.x / phases, sample = block / tiles;
  const int64_t pixel0 = block % tiles * pixels;
  const int64_t channel0 = int64_t{blockIdx.y} * channels;
  const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;

  const int64_t pixel = pixel0 + thread;
  const int row = pixel / across, column = pixel % across;
  const int64_t first = int64_t{row} * width.in + column;
  x += sample * s.in_channels * height.in * width.in;
  float sum[rows][columns] = {};
  for (int k0 = 0; k0 < terms; k0 += slice) {
    if (thread < slice) {
      const int term = min(k0 + thread, terms - 1);
      const int64_t channel = term / reaching;
      const int i = term / width.count % height.count, j = term % width.count;
      const int row = height.input(i), column = width.input(j);
      taps[thread] = {
          channel * s.out_channels * kernel_area + height.tap(i) * width.kernel + width.tap(j),
          (channel * height.in + row) * width.in + column, row, column};
    }
    __syncthreads();
    for (int i = 0; i < channels; i += threads / slice) {
      const int channel = i + thread / slice;
      const int64_t from = min(channel0 + channel, s.out_channels - 1);
      w_tile[thread % slice][channel] = weight[taps[thread % slice].weight + from * kernel_area];
    }
    for (int i = 0; i < slice; ++i) {
      const Tap tap = taps[i];  // No branches, so that the loads of a slice overlap.
      const bool inside = within(row + tap.row, height.in) & within(column + tap.column, width.in);
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
  for (int j = 0; j < columns; ++j) {
    const int64_t pixel = pixel0 + lane + 32 * j;
    const int64_t to_row = pixel / across * height.stride + height.phase;
    const int64_t to_column = pixel % across * width.stride + width.phase;
    if (to_row >= height.out || to_column >= width.out) continue;
    for (int i = 0; i < rows; ++i) {
      const int64_t plane = sample * s.out_channels + channel0 + warp * rows + i;
      if (channel0 + warp * rows + i < s.out_channels) {
        y[(plane * height.out + to_row) * width.out + to_column] = sum[i][j];
      }
    }
  }
}

void task::launch(const Sizes& s, const float* x, const float* weight, float* y,
                  cudaStream_t stream) {
  const auto axis = [&](int64_t in, int64_t out) {
    return Axis{int(in),       int(out),       int(s.kernel_size),
                int(s.stride), int(s.padding), int(s.dilation)};
  };
  const Axis height = axis(s.height_in, s.out_height());
  const Axis width = axis(s.width_in, s.out_width());
  const int64_t across = (width.out + width.stride - 1) / width.stride;
  const int64_t area = (height.out + height.stride - 1) / height.stride * across;
  const dim3 grid((area + pixels - 1) / pixels * s.batch_size * height.stride * width.stride,
                  (s.out_channels + channels - 1) / channels);
  conv_transpose<<<grid, threads, 0, stream>>>(s, height, width, x, weight, y);
}
