// Sizes of convolutions, and where their results go.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

namespace kb {

/// One number per dimension: {height, width}, or a single number for all.
template <int D>
struct Extent {
  int64_t at[D];

  Extent(int64_t all) {
    for (int64_t& value : at) value = all;
  }
  template <class... More, std::enable_if_t<sizeof...(More) + 2 == D, int> = 0>
  Extent(int64_t first, int64_t second, More... more)
      : at{first, second, static_cast<int64_t>(more)...} {}
  Extent(const std::array<int64_t, D>& values) {
    for (int d = 0; d < D; ++d) at[d] = values[d];
  }

  __host__ __device__ int64_t& operator[](int d) { return at[d]; }
  __host__ __device__ const int64_t& operator[](int d) const { return at[d]; }
  __host__ __device__ int64_t product() const {
    int64_t result = 1;
    for (int d = 0; d < D; ++d) result *= at[d];
    return result;
  }
};

/// Sizes of a convolution: x is [batch, in_channels, in...], y is [batch, out_channels, out...].
/// Each extent with its padding is below 2^30; tensors may have more elements. Padding comes before
/// the first element; how much comes after the last follows from `out`.
template <int D>
struct ConvShape {
  int64_t batch, in_channels, out_channels;
  Extent<D> in, kernel, stride, padding, dilation;
  int64_t groups;  ///< divides both numbers of channels
  Extent<D> out;
};

/// Sizes of a convolution, with as much padding after the last element as before the first.
/// Weights are [out_channels, in_channels / groups, kernel...].
template <int D>
ConvShape<D> conv_shape(int64_t batch, int64_t in_channels, int64_t out_channels, Extent<D> in,
                        Extent<D> kernel, Extent<D> stride = 1, Extent<D> padding = 0,
                        Extent<D> dilation = 1, int64_t groups = 1) {
  Extent<D> out = 0;
  for (int d = 0; d < D; ++d) {
    out[d] = (in[d] + 2 * padding[d] - dilation[d] * (kernel[d] - 1) - 1) / stride[d] + 1;
  }
  return {batch, in_channels, out_channels, in, kernel, stride, padding, dilation, groups, out};
}

/// Sizes of a transposed convolution. Weights are [in_channels, out_channels / groups, kernel...].
template <int D>
ConvShape<D> conv_transposed_shape(int64_t batch, int64_t in_channels, int64_t out_channels,
                                   Extent<D> in, Extent<D> kernel, Extent<D> stride = 1,
                                   Extent<D> padding = 0, Extent<D> output_padding = 0,
                                   Extent<D> dilation = 1, int64_t groups = 1) {
  Extent<D> out = 0;
  for (int d = 0; d < D; ++d) {
    out[d] = (in[d] - 1) * stride[d] - 2 * padding[d] + dilation[d] * (kernel[d] - 1) +
             output_padding[d] + 1;
  }
  return {batch, in_channels, out_channels, in, kernel, stride, padding, dilation, groups, out};
}

// What becomes of a result is up to a functor
//   float operator()(float value, int64_t sample, int64_t channel, int64_t pixel) const
// where a pixel is a position of y, counted in the order of memory.

/// The epilogue that adds a bias to each channel.
template <class T>
struct AddBias {
  const T* bias;
  __device__ float operator()(float value, int64_t, int64_t channel, int64_t) const {
    return value + static_cast<float>(bias[channel]);
  }
};

template <class T>
AddBias(const T*) -> AddBias<T>;

/// The epilogue that adds a bias to each channel and multiplies all sums by one factor.
template <class T>
struct AddBiasAndScale {
  const T* bias;
  float factor;
  __device__ float operator()(float value, int64_t, int64_t channel, int64_t) const {
    return (value + static_cast<float>(bias[channel])) * factor;
  }
};

template <class T>
AddBiasAndScale(const T*, float) -> AddBiasAndScale<T>;

/// Where results go: into y, [batch, channels, area], as f makes them.
template <class T, class F>
struct StorePixels {
  T* y;
  int64_t channels, area;
  F f;
  __device__ void operator()(float value, int64_t sample, int64_t channel, int64_t pixel) const {
    y[(sample * channels + channel) * area + pixel] =
        static_cast<T>(f(value, sample, channel, pixel));
  }
};

/// Takes the results of one pixel, by ascending channels.
template <class Result>
struct PixelResults {
  const Result& result;
  int64_t sample, pixel;
  __device__ PixelResults(const Result& to, int64_t of_sample, int64_t at, int64_t)
      : result(to), sample(of_sample), pixel(at) {}
  __device__ void operator()(float value, int64_t channel) {
    result(value, sample, channel, pixel);
  }
  /// The next result is so many channels on.
  __device__ void advance(int) {}
};

/// Those that are stored: their places follow from one another, without products.
template <class T, class F>
struct PixelResults<StorePixels<T, F>> {
  const F& f;
  T* y;
  int64_t sample, pixel, area;
  __device__ PixelResults(const StorePixels<T, F>& to, int64_t of_sample, int64_t at,
                          int64_t first_channel)
      : f(to.f),
        y(to.y + (of_sample * to.channels + first_channel) * to.area + at),
        sample(of_sample),
        pixel(at),
        area(to.area) {}
  __device__ void operator()(float value, int64_t channel) {
    *y = static_cast<T>(f(value, sample, channel, pixel));
  }
  __device__ void advance(int count) { y += count * area; }
};

}  // namespace kb
