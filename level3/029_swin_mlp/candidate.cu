#include "task.h"

#include <string>

#include <kb/axis.cuh>
#include <kb/network.cuh>

#include "../architectures/swin.cuh"

// Where the windows of images of `edge` x `edge` tokens lie; shifted ones reach over the edges.
struct Windows {
  int64_t edge, window;
  int64_t before;  // tokens that the first window lacks
  int64_t across;  // windows along an edge

  __device__ int64_t tokens() const { return window * window; }
  // The row of a window's token; less than 0 outside of the image.
  __device__ int64_t row(int64_t index, int64_t token) const {
    const int64_t sample = index / (across * across), place = index % (across * across);
    const int64_t y = place / across * window + token / window - before;
    const int64_t x = place % across * window + token % window - before;
    if (y < 0 || x < 0 || y >= edge || x >= edge) return -1;
    return (sample * edge + y) * edge + x;
  }
};

// The right operand of a head's product: columns are channels of all windows, k counts tokens.
struct WindowChannels {
  using Element = real;
  static constexpr bool along_k = false;
  const real* x;
  Windows windows;
  int64_t size, width, columns;  // channels of a head, of all heads, and of all windows

  __device__ bool in_vectors() const {
    constexpr int64_t vector = 16 / sizeof(real);
    return reinterpret_cast<uintptr_t>(x) % 16 == 0 && (size | width) % vector == 0;
  }
  __device__ kb::Source<real> operator()(int64_t head, int64_t column, int64_t token) const {
    if (column >= columns || token >= windows.tokens()) return {x, 0};
    const int64_t row = windows.row(column / size, token), channel = column % size;
    if (row < 0) return {x, 0};
    return {x + row * width + head * size + channel, static_cast<int>(size - channel)};
  }
};

// The result of a head's product: t = t + value + bias, at the token of row i.
struct AddToTokens {
  Windows windows;
  int64_t size, width;
  const real* bias;
  real* t;

  template <int N>
  __device__ void operator()(int64_t head, int64_t i, int64_t column, const float (&values)[N],
                             int64_t count) const {
    const float offset = kb::element(bias, head * windows.tokens() + i);
    for (int64_t j = 0; j < count && j < N; ++j) {
      const int64_t row = windows.row((column + j) / size, i);
      if (row < 0) continue;
      const int64_t at = row * width + head * size + (column + j) % size;
      t[at] = static_cast<real>(kb::element(t, at) + (values[j] + offset));
    }
  }
};

// Tokens of a window and channels of a head are few, so small tiles do.
using Tiles = kb::ProductTiles<real, kb::target>::Small;
template <class Left, class Right, class Result>
static void multiply(cudaStream_t stream, const kb::ProductShape& shape, Left a, Right b,
                     Result result) {
  kb::launch_product<Tiles, kb::product_arithmetic>(stream, shape, a, b, result);
}

// t = t + what the heads make of the windows of norm1(t).
static void mix_windows(const kb::Network& net, const std::string& block, const Windows& windows,
                        int64_t samples, int64_t heads, const FeatureMap& t) {
  const FeatureMap x = net.layer_norm(block + "norm1", t);
  const int64_t size = t.channels / heads, tokens = windows.window * windows.window;
  const int64_t columns = samples * windows.across * windows.across * size;
  const kb::ProductShape shape = {tokens, columns, tokens, heads};
  multiply(net.stream(), shape, kb::left(net.weight(block + "spatial_mlp.weight"), shape),
           WindowChannels{x.data, windows, size, t.channels, columns},
           AddToTokens{windows, size, t.channels, net.weight(block + "spatial_mlp.bias"), t.data});
}

static FeatureMap merge(const kb::Network& net, const std::string& stage, int64_t samples,
                        int64_t edge, const FeatureMap& t) {
  const FeatureMap rows = net.make(t.samples / 4, 4 * t.channels);
  merge_tokens<<<(t.size() + 255) / 256, 256, 0, net.stream()>>>(t.data, samples, edge, t.channels,
                                                                 rows.data);
  return net.linear(stage + "downsample.reduction", net.layer_norm(stage + "downsample.norm", rows),
                    Activation::none, {}, false);
}

void task::launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
                  cudaStream_t stream) {
  const kb::Network net(weights, stream);
  FeatureMap t = embed(net, s, x);
  int64_t edge = s.image_size / s.patch_size;
  for (int i = 0; i < 4; ++i) {
    const std::string stage = "layers." + std::to_string(i) + ".";
    const bool whole = edge <= s.window_size;
    const int64_t window = whole ? edge : s.window_size;
    for (int64_t j = 0; j < s.depths[i]; ++j) {
      const std::string block = stage + "blocks." + std::to_string(j) + ".";
      const int64_t shift = whole || j % 2 == 0 ? 0 : s.window_size / 2;
      const int64_t before = shift == 0 ? 0 : window - shift;
      const Windows windows = {edge, window, before, edge / window + (shift == 0 ? 0 : 1)};
      mix_windows(net, block, windows, s.batch_size, s.num_heads[i], t);
      const FeatureMap wide =
          net.linear(block + "mlp.fc1", net.layer_norm(block + "norm2", t), Activation::gelu);
      t = net.linear(block + "mlp.fc2", wide, Activation::none, t);
    }
    if (i == 3) break;
    t = merge(net, stage, s.batch_size, edge, t);
    edge /= 2;
  }
  const FeatureMap last = net.layer_norm("norm", t), mean = net.make(s.batch_size, t.channels);
  kb::launch_reduce_axis(stream, s.batch_size, edge * edge, t.channels, kb::Sum{},
                         kb::DivideBy{static_cast<float>(edge * edge)}, mean.data,
                         static_cast<const real*>(last.data));
  net.linear_to(net.output(y, s.batch_size, s.num_classes), "head", mean);
}
