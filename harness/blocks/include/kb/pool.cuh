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

/// The part of a window that is not padding.
struct PoolTaps {
  int first, count;  ///< the place of the first in x
  __device__ PoolTaps(const PoolAxis& axis, int to) {
    const int start = to * axis.stride - axis.padding, d = axis.dilation, room = axis.in - start;
    const int skipped = start >= 0 ? 0 : d == 1 ? -start : (d - 1 - start) / d;
    const int fitting = room <= 0 ? 0 : d == 1 ? room : (room + d - 1) / d;
    const int end = fitting < axis.kernel ? fitting : axis.kernel;
    first = start + skipped * d;
    count = end > skipped ? end - skipped : 0;
  }
};

/// One thread per element of y; a block has some rows of neighbours, of several planes where they are
/// small. Of a window that is K wide and has no padding at its sides, the loads of a row are under
/// way together.
template <int K, class Op, class T>
__global__ void pool(PoolShape s, Op op, const T* x, T* y) {
  const unsigned across = (s.width.out + blockDim.x - 1) / blockDim.x;
  const unsigned down = (s.height.out + blockDim.y - 1) / blockDim.y;
  const unsigned strip = blockIdx.x / across, slice = strip / down * blockDim.z + threadIdx.z;
  const int column = static_cast<int>(blockIdx.x % across * blockDim.x + threadIdx.x);
  const int row = static_cast<int>(strip % down * blockDim.y + threadIdx.y);
  if (row >= s.height.out || column >= s.width.out || slice >= s.planes * s.depth.out) return;
  const PoolTaps z(s.depth, static_cast<int>(slice % s.depth.out)), r(s.height, row),
      c(s.width, column);
  const int64_t plane = slice / s.depth.out, line = s.width.in;
  const int64_t next_row = line * s.height.dilation;
  const int64_t next_slice = line * s.height.in * s.depth.dilation;
  x += plane / s.channels * s.sample_stride + plane % s.channels * s.plane_stride() +
       (int64_t{z.first} * s.height.in + r.first) * line + c.first;
  float value = Op::identity();
  for (int o = 0; o < z.count; ++o, x += next_slice) {
    const T* from = x;
    for (int p = 0; p < r.count; ++p, from += next_row) {
      if (c.count == K) {
#pragma unroll
        for (int q = 0; q < K; ++q) value = op(value, element(from, q * s.width.dilation));
      } else {
        for (int q = 0; q < c.count; ++q) value = op(value, element(from, q * s.width.dilation));
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
  const unsigned tiles =
      (s.width.out + block.x - 1) / block.x * ((s.height.out + block.y - 1) / block.y);
  const auto blocks =
      static_cast<unsigned>((s.planes * s.depth.out + block.z - 1) / block.z * tiles);
  if (s.sample_stride == 0) s.sample_stride = s.channels * s.plane_stride();
  switch (s.width.kernel) {
    case 2:
      return pool<2><<<blocks, block, 0, stream>>>(s, op, x, y);
    case 3:
      return pool<3><<<blocks, block, 0, stream>>>(s, op, x, y);
    case 4:
      return pool<4><<<blocks, block, 0, stream>>>(s, op, x, y);
    default:
      return pool<8><<<blocks, block, 0, stream>>>(s, op, x, y);
  }
}

}  // namespace kb
