// What the references of whole models share: layers with the initial values of Hugging Face's
// `transformers`, in whose operator order they compute. Models are in evaluation mode, without
// dropout and without a cache.
#pragma once

#include <kb/layers.h>
#include <kb/reference.h>

#include <cmath>

namespace kb {

/// Upstream's initial values of matrices.
inline Fill upstream_matrix() { return normal(0, 0.02); }

/// nn.Linear. @param gain  deviation of a result, for inputs of deviation 1
struct Dense {
  Parameter weight, bias;
  Dense(const Scope& at, int64_t in, int64_t out, bool with_bias = true, double gain = 1)
      : weight(at.weight("weight", {out, in}, normal(0, gain / std::sqrt(static_cast<double>(in))),
                         upstream_matrix())) {
    if (with_bias) bias = at.weight("bias", {out}, normal(0, 0.5), constant(0));
  }
  Tensor operator()(const Tensor& x) const { return at::linear(x, weight, *bias); }
};

/// nn.Embedding, with values that serve as the last layer's, too.
struct Table {
  Parameter weight;
  Table(const Scope& at, int64_t count, int64_t width)
      : Table(at, count, width, fan_in_normal(width)) {}
  Table(const Scope& at, int64_t count, int64_t width, Fill values)
      : weight(at.weight("weight", {count, width}, std::move(values), upstream_matrix())) {}
  Tensor operator()(const Tensor& indices) const { return at::embedding(weight, indices); }
  /// Rows first, first + 1, ... for each of the tokens [batch, tokens]: [1, tokens, width].
  Tensor at_positions(const Tensor& ids, int64_t first = 0) const {
    const Tensor positions = at::arange(first, first + ids.size(1), ids.options());
    return at::embedding(weight, positions.unsqueeze(0));
  }
};

/// [batch, tokens, heads * size] -> [batch, heads, tokens, size].
inline Tensor split_heads(const Tensor& x, int64_t heads) {
  return x.view({x.size(0), x.size(1), heads, -1}).transpose(1, 2);
}

/// [batch, heads, tokens, size] -> [batch, tokens, heads * size].
inline Tensor merge_heads(const Tensor& x) {
  return x.transpose(1, 2).contiguous().view({x.size(0), x.size(2), -1});
}

/// @param scale  factor of the scores, 1 / sqrt(size) unless it is given
inline Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, bool causal,
                     std::optional<double> scale = {}) {
  return at::scaled_dot_product_attention(q, k, v, {}, 0.0, causal, scale);
}

inline Tensor gelu_new(const Tensor& x) {
  return 0.5 * x * (1.0 + at::tanh(std::sqrt(2.0 / M_PI) * (x + 0.044715 * at::pow(x, 3.0))));
}

/// Token ids of a batch.
inline auto token_ids(int64_t batch_size, int64_t seq_len, int64_t vocab_size) {
  const Fill ids = integers(0, vocab_size);
  return input<int64_t>("input_ids", {batch_size, seq_len}).with(ids).upstream(ids);
}

}  // namespace kb
