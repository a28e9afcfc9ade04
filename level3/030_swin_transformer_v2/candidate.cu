#include "task.h"

#include <string>

#include <kb/attention.cuh>
#include <kb/axis.cuh>
#include <kb/network.cuh>

#include "../architectures/swin.cuh"

// Where the windows of images of `edge` x `edge` tokens lie; shifted ones go on at the other edge.
struct Windows {
  int edge, window, shift;

  __host__ __device__ int tokens() const { return window * window; }
  __host__ __device__ int across() const { return edge / window; }
  // The row of a window's token.
  __device__ int64_t operator()(int64_t index, int64_t token) const {
    const int of_image = across() * across(), within = static_cast<int>(token);
    const int64_t sample = index / of_image;
    const int place = static_cast<int>(index - sample * of_image);
    const int y = (place / across() * window + within / window + shift) % edge;
    const int x = (place % across() * window + within % window + shift) % edge;
    return (sample * edge + y) * edge + x;
  }
};

// What becomes of a cosine: the score before softmax.
struct Score {
  Windows windows;
  int64_t heads;
  const real *logit_scale, *bias;  // bias: [relative positions, heads], between 0 and 1
  const real* mask;                // or nullptr

  struct OfQuery {
    int window;
    int64_t heads;
    float scale;
    const real *bias, *mask;  // of the key 0
    __device__ float operator()(float cosine, int64_t key) const {
      const int at = static_cast<int>(key), y = at / window, x = at - y * window;
      const float offset = kb::element(bias, -(y * (2 * window - 1) + x) * heads);
      const float score = cosine * scale + 16 * offset;
      return mask == nullptr ? score : score + kb::element(mask, at);
    }
  };
  __device__ OfQuery operator()(int64_t index, int64_t head, int64_t query) const {
    const int window = windows.window, tokens = windows.tokens();
    const int at = static_cast<int>(query), y = at / window, x = at - y * window;
    const int64_t position = int64_t{y + window - 1} * (2 * window - 1) + x + window - 1;
    const int64_t place = index % (windows.across() * windows.across());
    const float scale = kb::element(logit_scale, head), log_100 = 4.6051702f;
    return {window, heads, expf(scale > log_100 ? log_100 : scale), bias + position * heads + head,
            mask == nullptr ? nullptr : mask + (place * tokens + at) * tokens};
  }
};

// One warp for each row, third and head: queries and values get their bias; then queries and keys
// the length 1.
__global__ void finish_qkv(real* qkv, const real* q_bias, const real* v_bias, int64_t rows,
                           int64_t heads, int64_t size) {
  const int64_t item = kb::Grid::rank() / 32, width = heads * size;
  if (item >= rows * 3 * heads) return;
  const int64_t third = item / heads % 3, first = item % heads * size;
  real* const x = qkv + item / heads * width + first;
  const real* const bias = third == 0 ? q_bias : third == 2 ? v_bias : nullptr;
  const auto value = [&](int64_t i) {
    return kb::element(x, i) + (bias == nullptr ? 0 : kb::element(bias, first + i));
  };
  float divisor = 1;
  if (third < 2) {
    float squares = 0;
    for (int64_t i = kb::Warp::rank(); i < size; i += 32) squares += value(i) * value(i);
    divisor = fmaxf(sqrtf(kb::combine(kb::Warp{}, squares, kb::Sum{})), 1e-12f);
  }
  for (int64_t i = kb::Warp::rank(); i < size; i += 32) {
    x[i] = static_cast<real>(value(i) / divisor);
  }
}

// A sixteenth of the bias of each relative position: [(2 * window - 1)^2, heads].
static FeatureMap position_bias(const kb::Network& net, const std::string& attn, int64_t window) {
  const int64_t span = 2 * window - 1;
  const FeatureMap places = net.input(net.weight(attn + "relative_coords_table"), span * span, 2);
  return net.linear(attn + "cpb_mlp.2", net.linear(attn + "cpb_mlp.0", places, Activation::relu),
                    Activation::sigmoid, {}, false);
}

static FeatureMap attend(const kb::Network& net, const std::string& block, const Windows& windows,
                         int64_t heads, const FeatureMap& t) {
  const cudaStream_t stream = net.stream();
  const std::string attn = block + "attn.";
  const int64_t width = t.channels, size = width / heads, tokens = windows.tokens();
  const FeatureMap qkv = net.linear(attn + "qkv", t, Activation::none, {}, false);
  const int64_t threads = t.samples * 3 * heads * 32;
  finish_qkv<<<(threads + 127) / 128, 128, 0, stream>>>(
      qkv.data, net.weight(attn + "q_bias"), net.weight(attn + "v_bias"), t.samples, heads, size);

  const FeatureMap bias = position_bias(net, attn, windows.window);
  const real* const mask = windows.shift > 0 ? net.weight(block + "attn_mask") : nullptr;
  const FeatureMap out = net.make(t.samples, width);
  const kb::AttentionShape shape = {heads, tokens, tokens, size, 3 * width, width};
  const real* const q = qkv.data;
  kb::launch_any_attention<kb::AttentionRows::softmax>(
      stream, t.samples / tokens, shape, windows, windows,
      Score{windows, heads, net.weight(attn + "logit_scale"), bias.data, mask}, kb::SeesAll{}, q,
      q + width, q + 2 * width, out.data);
  return net.linear(attn + "proj", out);
}

static FeatureMap merge(const kb::Network& net, const std::string& stage, int64_t samples,
                        int64_t edge, const FeatureMap& t) {
  const FeatureMap rows = net.make(t.samples / 4, 4 * t.channels);
  merge_tokens<<<(t.size() + 255) / 256, 256, 0, net.stream()>>>(t.data, samples, edge, t.channels,
                                                                 rows.data);
  return net.layer_norm(stage + "downsample.norm", net.linear(stage + "downsample.reduction", rows,
                                                              Activation::none, {}, false));
}

void task::launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
                  cudaStream_t stream) {
  const kb::Network net(weights, stream);
  FeatureMap t = embed(net, s, x);
  int64_t edge = s.image_size / s.patch_size;
  for (int i = 0; i < 4; ++i) {
    const std::string stage = "layers." + std::to_string(i) + ".";
    const bool whole = edge <= s.window_size;
    for (int64_t j = 0; j < s.depths[i]; ++j) {
      const std::string block = stage + "blocks." + std::to_string(j) + ".";
      const int64_t shift = whole || j % 2 == 0 ? 0 : s.window_size / 2;
      const auto number = [](int64_t n) { return static_cast<int>(n); };
      const Windows windows = {number(edge), number(whole ? edge : s.window_size), number(shift)};
      net.add(t, net.layer_norm(block + "norm1", attend(net, block, windows, s.num_heads[i], t)));
      const FeatureMap wide = net.linear(block + "mlp.fc1", t, Activation::gelu);
      net.add(t, net.layer_norm(block + "norm2", net.linear(block + "mlp.fc2", wide)));
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
