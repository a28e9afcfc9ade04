// Convolutions, ordinary and transposed, of all options, types and arithmetics.
#include <kb/conv.cuh>
#include <kb/depthwise.cuh>

#include "blocks.h"

namespace {

using kb::Arithmetic;
using kb::ConvShape;

template <class T>
std::vector<T> small_integers(int64_t n, int seed) {
  return make<T>(n, [&](int i) {
    const unsigned mixed = (static_cast<unsigned>(i) * 4 + seed) * 2654435761u;
    return static_cast<float>(static_cast<int>(mixed >> 16) % 9 - 4);
  });
}

/// An epilogue that uses everything it is told.
struct BiasAndOther {
  const float *bias, *other;
  int64_t channels, area;
  __device__ float operator()(float value, int64_t sample, int64_t channel, int64_t pixel) const {
    return value + bias[channel] + other[(sample * channels + channel) * area + pixel];
  }
};

/// Position `index` of an extent.
template <int D>
void unflatten(int64_t index, const kb::Extent<D>& extent, int64_t (&at)[D]) {
  for (int d = D - 1; d >= 0; --d) {
    at[d] = index % extent[d];
    index /= extent[d];
  }
}

/// Adds x to y as the definition says, element by element.
template <int D, class T>
std::vector<double> expected_conv(const ConvShape<D>& s, bool transposed, const std::vector<T>& x,
                                  const std::vector<T>& weight) {
  const int64_t in_area = s.in.product(), out_area = s.out.product(), taps = s.kernel.product();
  const int64_t group_in = s.in_channels / s.groups, group_out = s.out_channels / s.groups;
  std::vector<double> y(s.batch * s.out_channels * out_area);
  // A transposed convolution gives to where the ordinary one with the same numbers takes from.
  const kb::Extent<D>& near = transposed ? s.in : s.out;
  const kb::Extent<D>& far = transposed ? s.out : s.in;
  for (int64_t i = 0; i < near.product(); ++i) {
    for (int64_t t = 0; t < taps; ++t) {
      int64_t at[D], tap[D], place = 0;
      unflatten(i, near, at);
      unflatten(t, s.kernel, tap);
      bool inside = true;
      for (int d = 0; d < D; ++d) {
        const int64_t from = at[d] * s.stride[d] - s.padding[d] + tap[d] * s.dilation[d];
        inside &= from >= 0 && from < far[d];
        place = place * far[d] + from;
      }
      if (!inside) continue;
      const int64_t pixel_in = transposed ? i : place, pixel_out = transposed ? place : i;
      for (int64_t n = 0; n < s.batch; ++n) {
        for (int64_t o = 0; o < s.out_channels; ++o) {
          for (int64_t c = 0; c < group_in; ++c) {
            const int64_t group = o / group_out, in = group * group_in + c;
            const int64_t w = transposed ? (in * group_out + o % group_out) * taps + t
                                         : (o * group_in + c) * taps + t;
            y[(n * s.out_channels + o) * out_area + pixel_out] +=
                double{static_cast<float>(x[(n * s.in_channels + in) * in_area + pixel_in])} *
                static_cast<float>(weight[w]);
          }
        }
      }
    }
  }
  return y;
}

/// Launches with what a candidate would call.
struct AsChosen {
  template <int D, class T, class Epilogue>
  static void launch(const ConvShape<D>& s, bool transposed, const T* x, const T* weight,
                     Epilogue epilogue, float* y) {
    if (transposed) {
      kb::launch_conv_transposed(nullptr, s, x, weight, epilogue, y);
    } else {
      kb::launch_conv(nullptr, s, x, weight, epilogue, y);
    }
  }
};

struct Depthwise {
  template <int D, class T, class Epilogue>
  static void launch(const ConvShape<D>& s, bool, const T* x, const T* weight, Epilogue epilogue,
                     float* y) {
    kb::launch_depthwise(nullptr, s, x, weight, epilogue, y);
  }
};

template <int pixels>
struct Directly {
  template <int D, class T, class Epilogue>
  static void launch(const ConvShape<D>& s, bool, const T* x, const T* weight, Epilogue epilogue,
                     float* y) {
    kb::launch_conv_directly<pixels>(
        nullptr, s, x, weight,
        kb::StorePixels<float, Epilogue>{y, s.out_channels, s.out.product(), epilogue});
  }
};

/// Launches in tiles of one kind.
/// @tparam parts  blocks that share the depth of a tile; 0: as many as the device has room for
template <class Tile, Arithmetic arithmetic, int parts = 0>
struct InTiles {
  template <int D, class T, class Epilogue>
  static void launch(const ConvShape<D>& s, bool transposed, const T* x, const T* weight,
                     Epilogue epilogue, float* y) {
    kb::launch_conv_tiles<Tile, arithmetic>(
        nullptr, s, transposed, x, weight,
        kb::StorePixels<float, Epilogue>{y, s.out_channels, s.out.product(), epilogue}, parts);
  }
};

/// Compares with the definition, exactly.
template <class Launcher, class T, int D>
void expect_conv(const ConvShape<D>& s, bool transposed) {
  const int64_t area = s.out.product(), size = s.batch * s.out_channels * area;
  const int64_t weights = s.in_channels * s.out_channels / s.groups * s.kernel.product();
  const std::vector<T> x = small_integers<T>(s.batch * s.in_channels * s.in.product(), 1);
  const std::vector<T> weight = small_integers<T>(weights, 2);
  const std::vector<float> bias = small_integers<float>(s.out_channels, 3);
  const std::vector<float> other = small_integers<float>(size, 4);
  Buffer<T> x_device(x), weight_device(weight);
  Buffer<float> bias_device(bias), other_device(other), y(size + 1, 77);
  const T *x_start = x_device, *weight_start = weight_device;
  Launcher::launch(s, transposed, x_start, weight_start,
                   BiasAndOther{bias_device, other_device, s.out_channels, area}, y);
  KB_LAUNCHED();
  const std::vector<float> got = y.read();
  const std::vector<double> expected = expected_conv(s, transposed, x, weight);
  int64_t wrong = 0;
  for (int64_t i = 0; i < size; ++i) {
    wrong += got[i] != expected[i] + bias[i / area % s.out_channels] + other[i];
  }
  KB_EXPECT(wrong == 0);
  KB_EXPECT(got[size] == 77);
}

template <class Launcher, class T, int D>
void expect_ordinary(const ConvShape<D>& s) {
  expect_conv<Launcher, T>(s, false);
}
template <class Launcher, class T, int D>
void expect_transposed(const ConvShape<D>& s) {
  expect_conv<Launcher, T>(s, true);
}

using kb::conv_shape;
using kb::conv_transposed_shape;

template <class T>
void convolutions_of_two_dimensions() {
  const auto ordinary = expect_ordinary<AsChosen, T, 2>;
  ordinary(conv_shape<2>(3, 7, 9, {9, 11}, {3, 2}, {1, 2}, {0, 3}, {2, 1}));
  ordinary(conv_shape<2>(2, 8, 4, 6, 1));
  ordinary(conv_shape<2>(1, 4, 8, {5, 7}, 3, 1, 1, 1, 4));
  ordinary(conv_shape<2>(1, 2, 3, 4, 9, 1, 6));  // most taps are outside
  ConvShape<2> no_padding_after = conv_shape<2>(1, 2, 3, 5, 3, 1, 1);
  no_padding_after.out = {4, 3};
  ordinary(no_padding_after);
  const auto transposed = expect_transposed<AsChosen, T, 2>;
  transposed(conv_transposed_shape<2>(2, 3, 4, {5, 6}, {3, 2}, {2, 3}, {1, 0}, {1, 2}, {2, 1}));
  transposed(conv_transposed_shape<2>(2, 4, 6, 5, 2, 5, 0, 3, 1, 2));  // classes without taps
  transposed(conv_transposed_shape<2>(1, 4, 6, 5, 3, 4, 1, 0, 2));     // and with some of the taps
  transposed(conv_transposed_shape<2>(1, 2, 3, 1, 2, 5));              // classes without outputs
}

KB_FEATURE(conv_of_any_type) { KB_FOR_EACH_TYPE(convolutions_of_two_dimensions); }

KB_FEATURE(conv_of_one_dimension) {
  const auto ordinary = expect_ordinary<AsChosen, float, 1>;
  ordinary(conv_shape<1>(2, 3, 5, 17, 4));
  ordinary(conv_shape<1>(2, 6, 70, 150, 3, 2, 1, 3, 2));
  const auto transposed = expect_transposed<AsChosen, float, 1>;
  transposed(conv_transposed_shape<1>(2, 3, 5, 17, 4));
  transposed(conv_transposed_shape<1>(2, 6, 70, 50, 3, 3, 2, 1, 2, 2));
}

KB_FEATURE(conv_of_three_dimensions) {
  expect_ordinary<AsChosen, float>(
      conv_shape<3>(2, 3, 6, {4, 5, 6}, {2, 3, 1}, {1, 2, 3}, {1, 0, 2}, {1, 2, 1}, 3));
  expect_transposed<AsChosen, float>(conv_transposed_shape<3>(
      1, 6, 9, {3, 4, 5}, {3, 2, 4}, {2, 1, 3}, {1, 0, 2}, {1, 0, 2}, {1, 3, 2}, 3));
  // Taps reach one of eight classes only.
  expect_transposed<AsChosen, float>(conv_transposed_shape<3>(2, 3, 20, {2, 3, 4}, 3, 2, 1, 0, 2));
}

// More tiles than blocks, more slices than stages, samples that begin within a tile.
KB_FEATURE(conv_of_many_tiles) {
  expect_ordinary<AsChosen, float>(conv_shape<1>(3, 40, 33, 1000, 5));
  expect_transposed<AsChosen, float>(conv_transposed_shape<1>(3, 40, 33, 500, 5, 2));
}

template <class T>
void convolutions_on_tensor_cores() {
  using Narrow = kb::ConvTile<32, 3, 2, 32, 104, 4>;
  using Middle = kb::ConvTile<64, 3, 2, 32, 104, 2>;
  using Wide = kb::ConvTile<128, 4, 1, 56, 224, 4>;
  const auto s = conv_shape<2>(2, 9, 70, {9, 11}, {3, 2}, {1, 2}, {0, 3}, {2, 1});
  expect_conv<InTiles<Narrow, Arithmetic::tf32x3>, T>(s, false);
  expect_conv<InTiles<Middle, Arithmetic::tf32x3>, T>(s, false);
  expect_conv<InTiles<Wide, Arithmetic::tf32x3>, T>(s, false);
  expect_conv<InTiles<Narrow, Arithmetic::tf32>, T>(s, false);
  const auto t = conv_transposed_shape<2>(2, 22, 10, {5, 6}, {3, 2}, {2, 3}, {1, 0});
  expect_conv<InTiles<Narrow, Arithmetic::tf32x3>, T>(t, true);
}

KB_FEATURE(conv_on_tensor_cores) { KB_FOR_EACH_TYPE(convolutions_on_tensor_cores); }

template <class T>
void convolutions_of_parts() {
  using Tile = kb::ConvTile<32, 3, 1, 0, 0, 4>;
  // Of 288 lines, 5 or 9 slices: more and fewer than there are parts.
  const auto s = conv_shape<2>(2, 32, 40, {9, 11}, 3, {1, 2}, 1);
  expect_conv<InTiles<Tile, Arithmetic::tf32x3, 1>, T>(s, false);
  expect_conv<InTiles<Tile, Arithmetic::tf32x3, 4>, T>(s, false);
  expect_conv<InTiles<Tile, Arithmetic::tf32x3, 20>, T>(s, false);
  // Classes with and without taps share alike.
  const auto t = conv_transposed_shape<2>(2, 40, 6, 5, 2, 5, 0, 3, 1, 2);
  expect_conv<InTiles<Tile, Arithmetic::tf32x3, 3>, T>(t, true);
  expect_conv<InTiles<Tile, Arithmetic::plain, 2>, T>(conv_shape<3>(1, 20, 3, 4, 3), false);
}

KB_FEATURE(conv_of_parts) { KB_FOR_EACH_TYPE(convolutions_of_parts); }

template <int pixels, class T>
void convolutions_without_tiles() {
  const auto direct = expect_ordinary<Directly<pixels>, T, 2>;
  direct(conv_shape<2>(3, 7, 9, {9, 11}, {3, 2}, {1, 2}, {0, 3}, {2, 1}));
  direct(conv_shape<2>(2, 3, 16, {30, 33}, 3));  // more than a block, no padding
  direct(conv_shape<2>(2, 4, 32, {5, 7}, 3, 1, 1, 1, 2));
  ConvShape<2> no_padding_after = conv_shape<2>(1, 2, 3, 5, 3, 1, 1);
  no_padding_after.out = {4, 3};
  direct(no_padding_after);
  direct(conv_shape<2>(2, 70, 18, {5, 7}, 3, 1, 1));  // more than a slice, two tiles of channels
  ConvShape<2> padding_after = conv_shape<2>(1, 2, 3, 5, 3);
  padding_after.out = {4, 5};
  direct(padding_after);
  expect_ordinary<Directly<pixels>, T, 1>(conv_shape<1>(2, 6, 30, 150, 3, 2, 1, 3, 2));
  expect_ordinary<Directly<pixels>, T, 3>(
      conv_shape<3>(2, 3, 6, {4, 5, 6}, {2, 3, 1}, {1, 2, 3}, {1, 0, 2}, {1, 2, 1}, 3));
}

template <class T>
void convolutions_without_tiles() {
  convolutions_without_tiles<1, T>();
  convolutions_without_tiles<4, T>();
}

KB_FEATURE(conv_without_tiles) { KB_FOR_EACH_TYPE(convolutions_without_tiles); }

// The epilogues that <kb/conv.cuh> has itself.
template <class T>
void biased_and_scaled() {
  const auto s = conv_shape<2>(2, 3, 5, {4, 6}, 3);
  const int64_t area = s.out.product(), size = s.batch * s.out_channels * area;
  const std::vector<T> x = small_integers<T>(s.batch * s.in_channels * s.in.product(), 1);
  const std::vector<T> weight =
      small_integers<T>(s.in_channels * s.out_channels * s.kernel.product(), 2);
  const std::vector<T> bias = small_integers<T>(s.out_channels, 3);
  Buffer<T> x_device(x), weight_device(weight), bias_device(bias);
  Buffer<float> biased(size, 77), scaled(size, 77);
  const T *x_start = x_device, *weight_start = weight_device, *bias_start = bias_device;
  float *const biased_start = biased, *const scaled_start = scaled;
  kb::launch_conv(nullptr, s, x_start, weight_start, kb::AddBias{bias_start}, biased_start);
  kb::launch_conv(nullptr, s, x_start, weight_start, kb::AddBiasAndScale{bias_start, 0.5f},
                  scaled_start);
  KB_LAUNCHED();
  const std::vector<float> with_bias = biased.read(), with_both = scaled.read();
  const std::vector<double> sums = expected_conv(s, false, x, weight);
  for (int64_t i = 0; i < size; ++i) {
    const double expected = sums[i] + static_cast<float>(bias[i / area % s.out_channels]);
    KB_EXPECT(with_bias[i] == expected);
    KB_EXPECT(with_both[i] == expected / 2);
  }
}

KB_FEATURE(conv_with_bias_and_scale) { KB_FOR_EACH_TYPE(biased_and_scaled); }

template <class T>
void depthwise_convolutions() {
  const auto depthwise = expect_ordinary<Depthwise, T, 2>;
  depthwise(conv_shape<2>(2, 3, 3, {19, 21}, {3, 2}, 1, 0, 1, 3));
  depthwise(conv_shape<2>(1, 2, 6, {33, 40}, {5, 3}, {2, 1}, {3, 1}, {2, 3}, 2));  // rows slide
  depthwise(conv_shape<2>(2, 3, 3, {20, 9}, {4, 1}, {2, 1}, {1, 2}, 1, 3));        // they do not
  depthwise(conv_shape<2>(1, 2, 2, 3, 9, 1, 6, 1, 2));
  depthwise(conv_shape<2>(2, 2, 2, {70, 40}, 3, 1, 1, 1, 2));   // planes of several blocks
  depthwise(conv_shape<2>(3, 11, 11, {5, 7}, 3, 1, 1, 1, 11));  // blocks of several planes
}

KB_FEATURE(depthwise_conv_of_any_type) { KB_FOR_EACH_TYPE(depthwise_convolutions); }

}  // namespace
