// Depthwise convolutions: each channel of y comes from one channel of x.
#pragma once

#include <cstdint>

#include "conv.cuh"

namespace kb {

/// A thread computes `strip` neighbouring rows of one column of y. If `sliding`, which wants equal
/// stride and dilation of rows, tap p of output row i meets the row of x that tap p + 1 of the
/// output row before meets: a thread loads it once for all. A plane is one channel of one sample.
/// @param blocks_of_plane, planes_of_block  one of them is 1
/// @param threads_of_plane  of a block
template <bool sliding, int strip, class T, class Epilogue, class Y>
__global__ void convolve_depthwise(ConvShape<2> s, int64_t blocks_of_plane, int planes_of_block,
                                   int threads_of_plane, const T* x, const T* weight,
                                   Epilogue epilogue, Y* y) {
  const int within = static_cast<int>(threadIdx.x) / threads_of_plane;  // of the block's planes
  const int64_t plane = blockIdx.x / blocks_of_plane * planes_of_block + within;
  if (within >= planes_of_block || plane >= s.batch * s.out_channels) return;
  const int64_t sample = plane / s.out_channels, channel = plane % s.out_channels;
  const int64_t item =
      blockIdx.x % blocks_of_plane * threads_of_plane + threadIdx.x % threads_of_plane;
  const auto width = static_cast<int>(s.out[1]), height = static_cast<int>(s.out[0]);
  const auto row0 = static_cast<int>(item / width * strip), column = static_cast<int>(item % width);
  if (row0 >= height) return;
  const auto rows = static_cast<int>(s.kernel[0]), columns = static_cast<int>(s.kernel[1]);
  const auto in_height = static_cast<unsigned>(s.in[0]), in_width = static_cast<unsigned>(s.in[1]);
  const auto dilation = static_cast<int>(s.dilation[0]), stride = static_cast<int>(s.stride[0]);
  const auto first_row = static_cast<int>(row0 * s.stride[0] - s.padding[0]);
  const auto first_column = static_cast<int>(column * s.stride[1] - s.padding[1]);
  x += (sample * s.in_channels + channel / (s.out_channels / s.in_channels)) * s.in.product();
  weight += channel * rows * columns;

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
  const int threads_of_plane = items < threads ? static_cast<int>(items) : threads;
  const int planes_of_block = threads / threads_of_plane;
  const int64_t blocks_of_plane = (items + threads - 1) / threads;
  const int64_t blocks = (planes + planes_of_block - 1) / planes_of_block * blocks_of_plane;
  const auto kernel = s.stride[0] == s.dilation[0]
                          ? convolve_depthwise<true, strip, T, Epilogue, Y>
                          : convolve_depthwise<false, strip, T, Epilogue, Y>;
  kernel<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(
      s, blocks_of_plane, planes_of_block, threads_of_plane, x, weight, epilogue, y);
}

}  // namespace kb
