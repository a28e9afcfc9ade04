// Batch norms that use the statistics of their batch, in place: of channels, and of columns.
#pragma once

#include <cstdint>

#include "axis.cuh"
#include "map.cuh"
#include "moments.cuh"
#include "types.cuh"

namespace kb {

/// Block (i, j) measures channel i in sample j and every gridDim.y-th after it; n elements in each.
/// @param parts  [channels, gridDim.y]
template <class T>
__global__ void __launch_bounds__(1024, 2)
    measure_channels(int64_t samples, int64_t n, Moments* parts, const T* y) {
  const OnlineMoments merge;
  Moments m = merge.identity();
  for (int64_t sample = blockIdx.y; sample < samples; sample += gridDim.y) {
    const T* values = y + (sample * gridDim.x + blockIdx.x) * n;
    m = merge(m, fold(Block{}, n, merge, Same{}, values));
  }
  m = combine(Block{}, m, merge);
  if (threadIdx.x == 0) parts[int64_t{blockIdx.x} * gridDim.y + blockIdx.y] = m;
}

/// Block (i, j) normalises the same elements.
template <class T>
__global__ void __launch_bounds__(1024, 2)
    normalise_channels(int64_t samples, int64_t n, const T* weight, const T* bias, float eps,
                       float factor, const Moments* parts, T* y) {
  const OnlineMoments merge;
  parts += int64_t{blockIdx.x} * gridDim.y;
  const Moments part = threadIdx.x < gridDim.y ? parts[threadIdx.x] : merge.identity();
  const Moments m = combine(Block{}, part, merge);
  const float scale = element(weight, blockIdx.x) / sqrtf(m.variance() + eps) * factor;
  const float offset = element(bias, blockIdx.x) * factor;
  for (int64_t sample = blockIdx.y; sample < samples; sample += gridDim.y) {
    T* values = y + (sample * gridDim.x + blockIdx.x) * n;
    map(
        Block{}, n, [=](float v) { return (v - m.mean) * scale + offset; }, values, values);
  }
}

/// Launches y = ((y - mean) / sqrt(var + eps) * weight + bias) * factor in place, with mean and
/// biased var of each channel.
/// @param y  [samples, channels, n]; channels of thousands of elements or more
/// @param weight, bias  [channels]
template <class T>
void launch_batch_norm(cudaStream_t stream, int64_t samples, int64_t channels, int64_t n,
                       const T* weight, const T* bias, float eps, float factor, T* y) {
  if (samples * channels == 0) return;
  constexpr int64_t threads = 1024;  // so many parts of a channel at most: a thread reads one
  const dim3 grid(static_cast<unsigned>(channels),
                  static_cast<unsigned>(samples < threads ? samples : threads));
  void* memory = nullptr;
  cudaMallocAsync(&memory, sizeof(Moments) * grid.x * grid.y, stream);
  const auto parts = static_cast<Moments*>(memory);
  measure_channels<<<grid, threads, 0, stream>>>(samples, n, parts, y);
  normalise_channels<<<grid, threads, 0, stream>>>(samples, n, weight, bias, eps, factor, parts, y);
  cudaFreeAsync(memory, stream);
}

/// A thread takes one column, a few rows at a time.
template <class F, class T>
__global__ void normalise_columns(int64_t rows, int64_t columns, const Moments* moments,
                                  const T* weight, const T* bias, float eps, F f, T* y) {
  const int64_t column = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  const Moments m = moments[column];
  const float factor = static_cast<float>(weight[column]) / sqrtf(m.variance() + eps);
  const float offset = static_cast<float>(bias[column]);
  constexpr int few = 8;
  for (int64_t i = int64_t{blockIdx.y} * few; i < rows; i += int64_t{gridDim.y} * few) {
    T* const at = y + i * columns + column;
    float values[few];
#pragma unroll
    for (int j = 0; j < few; ++j) {
      if (i + j < rows) values[j] = static_cast<float>(at[j * columns]);
    }
#pragma unroll
    for (int j = 0; j < few; ++j) {
      if (i + j >= rows) break;
      at[j * columns] = static_cast<T>(f((values[j] - m.mean) * factor + offset));
    }
  }
}

/// Launches y = f((y - mean) / sqrt(var + eps) * weight + bias) in place, with mean and biased var
/// of each column.
/// @param y  [rows, columns]
/// @param weight, bias  [columns]
/// @param f  what becomes of a normalised value; a type with a name, not a lambda
template <class F, class T>
void launch_batch_norm_of_columns(cudaStream_t stream, int64_t rows, int64_t columns,
                                  const T* weight, const T* bias, float eps, F f, T* y) {
  if (rows * columns == 0) return;
  void* memory = nullptr;
  cudaMallocAsync(&memory, columns * sizeof(Moments), stream);
  const auto moments = static_cast<Moments*>(memory);
  launch_reduce_axis(stream, 1, rows, columns, OnlineMoments{}, Same{}, moments, y);
  constexpr int64_t threads = 256, most = 256;
  const dim3 grid(static_cast<unsigned>((columns + threads - 1) / threads),
                  static_cast<unsigned>(rows < most ? rows : most));
  normalise_columns<<<grid, threads, 0, stream>>>(rows, columns, moments, weight, bias, eps, f, y);
  cudaFreeAsync(memory, stream);
}

}  // namespace kb
