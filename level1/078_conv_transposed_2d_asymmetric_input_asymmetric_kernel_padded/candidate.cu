#include "task.h"

constexpr int channels = 32, columns = 2, slice = 8, threads = 256;
constexpr int pixels = columns * threads;  // of y, one block's

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

// Each thread gathers 32 channels of 2 pixels, 256 apart, where a pixel is one (row, column) of
// y. Their terms count (channel, tap row, tap column); the weights of a slice of them pass
// through shared memory and serve the whole block. A block serves one phase: pixels whose
// coordinates leave one remainder each by the stride and therefore share their taps. Channels
// beyond the last one repeat it and count for nothing.
__global__ void __launch_bounds__(threads, 2)
    conv_transpose(task::Sizes s, Axis height, Axis width, const float* x, const float* weight,
                   float* y) {
  __shared__ __align__(16) float w_tile[slice][channels + 4];  // + 4: fewer bank conflicts
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
  const int64_t pixel0 = block % tiles * pixels, channel0 = int64_t{blockIdx.y} * channels;
  const int thread = threadIdx.x;

  int row[columns], column[columns];
  int64_t first[columns];
  for (int j = 0; j < columns; ++j) {
    const int64_t pixel = pixel0 + thread + threads * j;
    row[j] = pixel / across, column[j] = pixel % across;
    first[j] = int64_t{row[j]} * width.in + column[j];
  }
  x += sample * s.in_channels * height.in * width.in;
  float sum[channels][columns] = {};
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
    for (int i = thread; i < slice * channels; i += threads) {
      const int64_t from = min(channel0 + i / slice, s.out_channels - 1);
      w_tile[i % slice][i / slice] = weight[taps[i % slice].weight + from * kernel_area];
    }
    float part[slice][columns];
    for (int i = 0; i < slice; ++i) {
      const Tap tap = taps[i];  // No branches, so that the loads of a slice overlap.
      for (int j = 0; j < columns; ++j) {
        const bool inside = (k0 + i < terms) & within(row[j] + tap.row, height.in) &
                            within(column[j] + tap.column, width.in);
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
#pragma unroll
  for (int j = 0; j < columns; ++j) {
    const int64_t to_row = int64_t{row[j]} * height.stride + height.phase;
    const int64_t to_column = int64_t{column[j]} * width.stride + width.phase;
    if (to_row >= height.out || to_column >= width.out) continue;
    for (int i = 0; i < channels; ++i) {
      const int64_t plane = sample * s.out_channels + channel0 + i;
      if (channel0 + i < s.out_channels)
        y[(plane * height.out + to_row) * width.out + to_column] = sum[i][j];
    }
  }
}

void task::launch(const Sizes& s, const float* x, const float* weight, float* y,
                  cudaStream_t stream) {
  const auto axis = [&](int64_t in, int64_t out, int i) {
    return Axis{int(in), int(out), int(s.kernel_size[i]), int(s.stride[i]), int(s.padding[i]), 1};
  };
  const Axis height = axis(s.height, s.out_height(), 0);
  const Axis width = axis(s.width, s.out_width(), 1);
  const int64_t across = (width.out + width.stride - 1) / width.stride;
  const int64_t area = (height.out + height.stride - 1) / height.stride * across;
  const dim3 grid((area + pixels - 1) / pixels * s.batch_size * height.stride * width.stride,
                  (s.out_channels + channels - 1) / channels);
  conv_transpose<<<grid, threads, 0, stream>>>(s, height, width, x, weight, y);
}
