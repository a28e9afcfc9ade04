// Depthwise convolutions: each channel of y comes from one channel of x.
#pragma once

#include <cstdint>

#include "conv.cuh"

namespace kb {

/// How blocks cover y, whose planes are one channel of one sample each.
struct DepthwiseTiles {
  unsigned planes, blocks_of_plane, planes_of_block;  ///< one of the last two is 1
  unsigned threads_of_plane;                          ///< of a block
  unsigned channels, multiplier;  ///< of y, and how many of them come from one of x
};

/// A thread computes `strip` neighbouring rows of one column of y. If `sliding`, which wants equal
/// stride and dilation of rows, tap p of output row i meets the row of x that tap p + 1 of the
/// output row before meets: a thread loads it once for all.
template <bool sliding, int strip, class T, class Epilogue, class Y>
__global__ void convolve_depthwise(ConvShape<2> s, DepthwiseTiles tiles, const T* x,
                                   const T* weight, Epilogue epilogue, Y* y) {
  const unsigned within = threadIdx.x / tiles.threads_of_plane;  // of the block's planes
  const unsigned plane = blockIdx.x / tiles.blocks_of_plane * tiles.planes_of_block + within;
  if (within >= tiles.planes_of_block || plane >= tiles.planes) return;
  const unsigned sample = plane / tiles.channels, channel = plane % tiles.channels;
  const unsigned item = blockIdx.x % tiles.blocks_of_plane * tiles.threads_of_plane +
                        threadIdx.x % tiles.threads_of_plane;
  const auto width = static_cast<unsigned>(s.out[1]);
  const auto height = static_cast<int>(s.out[0]);
  const auto row0 = static_cast<int>(item / width * strip), column = static_cast<int>(item % width);
  if (row0 >= height) return;
  const auto rows = static_cast<int>(s.kernel[0]), columns = static_cast<int>(s.kernel[1]);
  const auto in_height = static_cast<unsigned>(s.in[0]), in_width = static_cast<unsigned>(s.in[1]);
  const auto dilation = static_cast<int>(s.dilation[0]), stride = static_cast<int>(s.stride[0]);
  const auto first_row = static_cast<int>(row0 * s.stride[0] - s.padding[0]);
  const auto first_column = static_cast<int>(column * s.stride[1] - s.padding[1]);
  x += (sample * s.in_channels + channel / tiles.multiplier) * s.in.product();
  weight += int64_t{channel} * rows * columns;

  float sums[strip] = {};
  for (int q = 0; q < columns; ++q) {
    const int at = first_column + q * static_cast<int>(s.dilation[1]);
    if (static_cast<unsigned>(at) >= in_width) continue;
    const auto load = [&](int row) {
      return static_cast<unsigned>(row) < in_height
                 ? static_cast<float>(x[int64_t{row} * in_width + at])
                 : 0.f;
    };
    if constexpr (sliding) {
      constexpr int together = 4;  // taps
      float window[strip + together - 1];
#pragma unroll
      for (int i = 0; i < strip - 1; ++i) window[i] = load(first_row + i * dilation);
#pragma unroll 1
      for (int p = 0; p < rows; p += together) {
#pragma unroll
        for (int i = 0; i < together; ++i) {
          const int row = first_row + (p + strip - 1 + i) * dilation;
          window[strip - 1 + i] = p + i < rows ? load(row) : 0;
        }
#pragma unroll
        for (int i = 0; i < together; ++i) {
          if (p + i >= rows) break;
          const auto w = static_cast<float>(weight[(p + i) * columns + q]);
#pragma unroll
          for (int j = 0; j < strip; ++j) sums[j] = fmaf(w, window[i + j], sums[j]);
        }
#pragma unroll
        for (int i = 0; i < strip - 1; ++i) window[i] = window[i + together];
      }
    } else {
#pragma unroll 1
      for (int p = 0; p < rows; ++p) {
        const auto w = static_cast<float>(weight[p * columns + q]);
#pragma unroll
        for (int j = 0; j < strip; ++j) {
          sums[j] = fmaf(w, load(first_row + j * stride + p * dilation), sums[j]);
        }
      }
    }
  }
#pragma unroll
  for (int j = 0; j < strip; ++j) {
    if (row0 + j >= height) break;
    const int64_t pixel = int64_t{row0 + j} * width + column;
    y[plane * s.out.product() + pixel] = static_cast<Y>(epilogue(sums[j], sample, channel, pixel));
  }
}

/// Launches y = a depthwise convolution of x, which computes in float.
/// @param s  with as many groups as channels of x
/// @param x, weight, epilogue, y  as for launch_conv()
template <class T, class Epilogue, class Y>
void launch_depthwise(cudaStream_t stream, const ConvShape<2>& s, const T* x, const T* weight,
                      Epilogue epilogue, Y* y) {
  constexpr int strip = 8, threads = 256;
  const int64_t items = (s.out[0] + strip - 1) / strip * s.out[1];
  const int64_t planes = s.batch * s.out_channels;
  if (items <= 0 || planes <= 0) return;
  DepthwiseTiles tiles;
  tiles.planes = static_cast<unsigned>(planes);
  tiles.blocks_of_plane = static_cast<unsigned>((items + threads - 1) / threads);
  tiles.threads_of_plane = items < threads ? static_cast<unsigned>(items) : threads;
  tiles.planes_of_block = threads / tiles.threads_of_plane;
  tiles.channels = static_cast<unsigned>(s.out_channels);
  tiles.multiplier = static_cast<unsigned>(s.out_channels / s.in_channels);
  const unsigned blocks =
      (tiles.planes + tiles.planes_of_block - 1) / tiles.planes_of_block * tiles.blocks_of_plane;
  const auto kernel = s.stride[0] == s.dilation[0]
                          ? convolve_depthwise<true, strip, T, Epilogue, Y>
                          : convolve_depthwise<false, strip, T, Epilogue, Y>;
  kernel<<<blocks, threads, 0, stream>>>(s, tiles, x, weight, epilogue, y);
}

}  // namespace kb
