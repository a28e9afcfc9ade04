// What the kernels of whole models share: tokens and positions looked up, and layers on rows of
// [batch * tokens, width].
#pragma once

#include <string>

#include <kb/attention.cuh>
#include <kb/network.cuh>

namespace model {

using kb::Activation;
using kb::FeatureMap;
using kb::Network;
using kb::real;

inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// One block per row: y = words[ids] + types + positions[first + token], in this order. Tokens from
/// `given` on have the id 0.
__global__ void look_up(const int64_t* ids, int64_t tokens, int64_t given, int64_t width,
                        const real* words, const real* type, const real* positions, int64_t first,
                        real* y) {
  const int64_t token = blockIdx.x % tokens, sample = blockIdx.x / tokens;
  words += (token < given ? ids[sample * given + token] : 0) * width;
  positions += (first + token) * width;
  y += blockIdx.x * width;
  if (type == nullptr) {
    kb::map(
        kb::Block{}, width, [](float w, float p) { return w + p; }, y, words, positions);
  } else {
    kb::map(
        kb::Block{}, width, [](float w, float t, float p) { return w + t + p; }, y, words, type,
        positions);
  }
}

/// Tokens of a batch, and how they are looked up.
struct Tokens {
  const int64_t* ids;  ///< [samples, given]
  int64_t samples, given;
  int64_t tokens;  ///< of a sample with those that fill it up
  int64_t rows() const { return samples * tokens; }
};

struct LookUp {
  std::string words, positions;
  std::string type{};  ///< a table whose first row is added, or none
  int64_t first = 0;   ///< row of position 0
};

/// [rows, width]
inline FeatureMap embed(const Network& net, const Tokens& t, const LookUp& names) {
  const kb::Weight& words = net.find(names.words);
  const FeatureMap x = net.make(t.rows(), words.shape[1]);
  if (t.rows() <= 0) return x;
  look_up<<<static_cast<unsigned>(t.rows()), 128, 0, net.stream()>>>(
      t.ids, t.tokens, t.given, words.shape[1], words.data,
      names.type.empty() ? nullptr : net.weight(names.type), net.weight(names.positions),
      names.first, x.data);
  return x;
}

/// A linear layer with a weight [in, out]: activation(x * weight + bias) + residual.
inline FeatureMap linear_in_out(const Network& net, const std::string& name, const FeatureMap& x,
                                Activation activation = Activation::none,
                                const FeatureMap& residual = {}) {
  const kb::Weight& w = net.find(name + ".weight");
  const kb::ProductShape s = {x.samples, w.shape[1], w.shape[0]};
  const FeatureMap y = net.make(x.samples, w.shape[1]);
  kb::launch_product(
      net.stream(), s, kb::left(static_cast<const real*>(x.data), s), kb::right(w.data, s),
      kb::store(y.data, s,
                kb::BiasActivationResidual<real>{net.weight(name + ".bias"), residual.data,
                                                 s.columns, activation}));
  return y;
}

/// Rows of logits by a table [vocabulary, width] that words are looked up in.
inline void logits_to(const FeatureMap& y, const Network& net, const std::string& table,
                      const FeatureMap& x, const real* bias = nullptr) {
  const kb::Weight& w = net.find(table);
  const kb::ProductShape s = {x.samples, w.shape[0], w.shape[1]};
  kb::launch_product(
      net.stream(), s, kb::left(static_cast<const real*>(x.data), s),
      kb::right_transposed(w.data, s),
      kb::store(y.data, s,
                kb::BiasActivationResidual<real>{bias, nullptr, s.columns, Activation::none}));
}

/// Attention within each sample. @param q, k, v  rows that `stride` elements lie between
template <class Sees>
FeatureMap attend(const Network& net, const Tokens& t, int64_t heads, int64_t width, Sees sees,
                  const real* q, const real* k, const real* v, int64_t stride, float scale = 0) {
  const FeatureMap y = net.make(t.rows(), width);
  const kb::AttentionShape s = {heads, t.tokens, t.tokens, width / heads, stride, width, scale};
  kb::launch_attention(net.stream(), t.samples, s, sees, q, k, v, y.data);
  return y;
}

/// The same of three layers without gaps.
template <class Sees>
FeatureMap attend(const Network& net, const Tokens& t, int64_t heads, Sees sees,
                  const FeatureMap& q, const FeatureMap& k, const FeatureMap& v, float scale = 0) {
  return attend(net, t, heads, q.channels, sees, q.data, k.data, v.data, q.channels, scale);
}

}  // namespace model
