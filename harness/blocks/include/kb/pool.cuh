// Pooling over windows of one to three dimensions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "reduce.cuh"
#include "types.cuh"

namespace kb {

/// Windows along one dimension. Without arguments: a dimension that is not there.
struct PoolAxis {
  int in = 1, out = 1, kernel = 1, stride = 1, padding = 0, dilation = 1;

  /// As many windows as fit, as in PyTorch.
  static PoolAxis of(int64_t in, int64_t kernel, int64_t stride, int64_t padding = 0,
                     int64_t dilation = 1) {
    const int64_t out = (in + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1;
    return {static_cast<int>(in),     static_cast<int>(out),     static_cast<int>(kernel),
            static_cast<int>(stride), static_cast<int>(padding), static_cast<int>(dilation)};
  }
  /// Where the window of an element of y starts; in padding it is outside of x.
  __device__ int start(int to) const { return to * stride - padding; }
  __device__ bool has(int at) const {
    return static_cast<unsigned>(at) < static_cast<unsigned>(in);
  }
};

/// Planes (or volumes, or rows) of x, each of which gives one of y.
struct PoolShape {
  int64_t planes;
  PoolAxis height, width, depth = {};
  /// Where samples of so many planes each do not follow one another in x: elements from one to the
  /// next. 0: all planes do.
  int64_t channels = 1, sample_stride = 0;

  __host__ __device__ int64_t plane_stride() const {
    return int64_t{depth.in} * height.in * width.in;
  }
};

/// The greatest element of a window; NaN if there is one. Padding does not count.
struct GreatestOfWindow {
  __device__ static float identity() { return -INFINITY; }
  __device__ float operator()(float a, float b) const { return Max{}(a, b); }
  __device__ float finish(float v) const { return v; }
};

/// The mean of a window, in which padding counts as zeros.
struct MeanOfWindow {
  float elements;
  __device__ static float identity() { return 0; }
  __device__ float operator()(float a, float b) const { return a + b; }
  __device__ float finish(float v) const { return v / elements; }
};

/// How blocks cover y: so many side by side, so many below one another, for `slices` planes of y.
struct PoolTiles {
  unsigned across, down, slices;
};

/// One thread per element of y; a block has some rows of neighbours, of several planes where they
/// are small. The loads of K columns, and for small K of as many rows, are under way together,
/// since nothing is done with one before all are asked for. Those of padding are left out one by
/// one: windows at a border take no way of their own, for which their neighbours would wait.
template <int K, class Op, class T>
__global__ void pool(PoolShape s, PoolTiles tiles, Op op, const T* x, T* y) {
  const unsigned strip = blockIdx.x / tiles.across;
  const unsigned slice = strip / tiles.down * blockDim.z + threadIdx.z;
  const auto column = static_cast<int>(blockIdx.x % tiles.across * blockDim.x + threadIdx.x);
  const auto row = static_cast<int>(strip % tiles.down * blockDim.y + threadIdx.y);
  if (row >= s.height.out || column >= s.width.out || slice >= tiles.slices) return;
  const unsigned slices = s.depth.out, channels = s.channels, plane = slice / slices;
  int64_t start = plane / channels * s.sample_stride + plane % channels * s.plane_stride();
#if defined(__NVCC__) && defined(__CUDA_ARCH__)
  asm("" : "+l"(start));  // computed once: nvcc would repeat it for every tap
#endif
  x += start;
  const int first_slice = s.depth.start(static_cast<int>(slice % slices));
  const int first_row = s.height.start(row), first_column = s.width.start(column);
  constexpr bool whole = K <= 4;  // launch_pool(): K columns are all of a window
  constexpr int rows = whole ? K : 1;
  float value = Op::identity();
#pragma unroll 1
  for (int o = 0; o < s.depth.kernel; ++o) {
    const int from = first_slice + o * s.depth.dilation;
    if (!s.depth.has(from)) continue;
#pragma unroll 1
    for (int p = 0; p < s.height.kernel; p += rows) {
#pragma unroll 1
      for (int q = 0; q < s.width.kernel; q += K) {
        float taps[rows * K];
#pragma unroll
        for (int i = 0; i < rows; ++i) {
          const int at = first_row + (p + i) * s.height.dilation;
          const bool row_there = (!whole || p + i < s.height.kernel) && s.height.has(at);
          const int64_t line = (int64_t{from} * s.height.in + at) * s.width.in;
#pragma unroll
          for (int j = 0; j < K; ++j) {
            const int to = first_column + (q + j) * s.width.dilation;
            const bool there = row_there && (whole || q + j < s.width.kernel) && s.width.has(to);
            taps[i * K + j] = there ? element(x, line + to) : Op::identity();
          }
        }
#pragma unroll
        for (int i = 0; i < rows * K; ++i) value = op(value, taps[i]);
      }
    }
  }
  y[(static_cast<int64_t>(slice) * s.height.out + row) * s.width.out + column] =
      static_cast<T>(op.finish(value));
}

/// The least power of two that is not below n, or `most`, which is one.
inline unsigned power_of_two(int n, unsigned most) {
  unsigned power = 1;
  while (power < most && static_cast<int>(power) < n) power *= 2;
  return power;
}

/// 256 threads: rows of up to 32 neighbours, as many as the plane has, and planes for the rest.
inline dim3 pool_block(const PoolShape& s) {
  constexpr unsigned threads = 256;
  const unsigned columns = power_of_two(s.width.out, s.height.out == 1 ? threads : 32);
  const unsigned rows = power_of_two(s.height.out, threads / columns);
  const unsigned most_planes = 64;  // that a block may have, along z
  return {columns, rows, std::min(threads / columns / rows, most_planes)};
}

/// Launches y[i] = op over the i-th window.
/// @param x  [planes, depth.in, height.in, width.in]
/// @param y  [planes, depth.out, height.out, width.out]
template <class Op, class T>
void launch_pool(cudaStream_t stream, PoolShape s, Op op, const T* x, T* y) {
  if (s.planes <= 0 || s.depth.out <= 0 || s.height.out <= 0 || s.width.out <= 0) return;
  const dim3 block = pool_block(s);
  const auto slices = static_cast<unsigned>(s.planes * s.depth.out);
  const PoolTiles tiles = {(s.width.out + block.x - 1) / block.x,
                           (s.height.out + block.y - 1) / block.y, slices};
  const unsigned blocks = (slices + block.z - 1) / block.z * tiles.across * tiles.down;
  if (s.sample_stride == 0) s.sample_stride = s.channels * s.plane_stride();
  switch (s.width.kernel) {
    case 2:
      return pool<2><<<blocks, block, 0, stream>>>(s, tiles, op, x, y);
    case 3:
      return pool<3><<<blocks, block, 0, stream>>>(s, tiles, op, x, y);
    case 4:
      return pool<4><<<blocks, block, 0, stream>>>(s, tiles, op, x, y);
    default:
      return pool<8><<<blocks, block, 0, stream>>>(s, tiles, op, x, y);
  }
}

}  // namespace kb
