// ReformerModelWithLMHead at lengths at which it neither pads nor hashes. Included after task.h.
#pragma once

#include "transformer.h"

using namespace kb;
using namespace task;

// A position is a row and a column, each with an embedding of its own.
struct AxialPositions {
  Scope net;
  Sizes s;
  Parameter rows = weight("0", {s.axial_pos_shape[0], 1, s.axial_pos_embds_dim[0]});
  Parameter columns = weight("1", {1, s.axial_pos_shape[1], s.axial_pos_embds_dim[1]});
  Parameter weight(const char* name, Shape shape) const {
    return net["weights"].weight(name, std::move(shape), normal(), normal());
  }
  Tensor operator()(const Tensor& ids) const {
    const int64_t batch = ids.size(0), all = s.axial_pos_shape[0], across = s.axial_pos_shape[1],
                  down = (ids.size(1) - 1 + across) / across;
    const auto spread = [&](const Tensor& w) {
      return w.expand({batch, all, across, w.size(-1)}).slice(1, 0, down);
    };
    const Tensor grid =
        at::cat({spread(rows), spread(columns)}, -1).reshape({batch, -1, s.hidden_size});
    const Tensor positions = at::arange(ids.size(1), ids.options());
    std::vector<Tensor> samples;
    for (int64_t n = 0; n < batch; ++n) {
      samples.push_back(at::index_select(grid[n], 0, positions).unsqueeze(0));
    }
    return at::cat(samples, 0);
  }
};

// Softmax of scores [..., queries, keys], and their products with values.
inline Tensor weigh(const Tensor& scores, const Tensor& values) {
  return at::matmul(at::exp(scores - at::logsumexp(scores, -1, /*keepdim=*/true)), values);
}
inline Tensor masked(const Tensor& seen, const Tensor& scores, double instead) {
  return at::where(seen, scores, at::scalar_tensor(instead, scores.options()));
}

/// Queries see what is earlier in their chunk and in the one before.
struct LocalAttention {
  Scope net;
  Sizes s;
  int64_t width = s.num_attention_heads * s.attention_head_size;
  Dense query{net["query"], s.hidden_size, width, false};
  Dense key{net["key"], s.hidden_size, width, false};
  Dense value{net["value"], s.hidden_size, width, false};
  Tensor operator()(const Tensor& x) const {
    const int64_t heads = s.num_attention_heads, chunk = s.local_attn_chunk_length,
                  batch = x.size(0);
    Tensor q = split_heads(query(x), heads), k = split_heads(key(x), heads),
           v = split_heads(value(x), heads);
    k = k / std::sqrt(static_cast<double>(s.attention_head_size));
    const Tensor index =
        at::arange(x.size(1), x.options().dtype(at::kLong)).repeat({batch, heads, 1});
    if (x.size(1) <= chunk) {
      const Tensor seen = index.unsqueeze(-1) >= index.unsqueeze(-2);
      return merge_heads(weigh(masked(seen, at::matmul(q, k.transpose(-1, -2)), -1e9), v));
    }
    const auto in_chunks = [&](const Tensor& t) {
      return t.reshape({batch, heads, -1, chunk, s.attention_head_size});
    };
    // The chunk before the first is the last, of which the mask lets nothing through.
    const auto with_the_one_before = [](const Tensor& t) {
      const Tensor before = at::cat({t.slice(2, -1), t.slice(2, 0, -1)}, 2);
      return at::cat({before, t}, 3);
    };
    q = in_chunks(q), k = with_the_one_before(in_chunks(k)), v = with_the_one_before(in_chunks(v));
    const Tensor from = index.reshape({batch, heads, -1, chunk}), to = with_the_one_before(from);
    const Tensor seen = from.unsqueeze(-1) >= to.unsqueeze(-2);
    const Tensor y = weigh(masked(seen, at::matmul(q, k.transpose(-1, -2)), -1e9), v);
    return merge_heads(y.flatten(2, 3));
  }
};

/// Keys are normalised queries; a query sees what is earlier, itself only if there is nothing else.
struct LshAttention {
  Scope net;
  Sizes s;
  int64_t width = s.num_attention_heads * s.attention_head_size;
  Dense query_key{net["query_key"], s.hidden_size, width, false, 0.005};  // beside which 1e-6 shows
  Dense value{net["value"], s.hidden_size, width, false};
  Tensor operator()(const Tensor& x) const {
    const int64_t heads = s.num_attention_heads;
    const Tensor q = split_heads(query_key(x), heads), v = split_heads(value(x), heads);
    const Tensor index =
        at::arange(x.size(1), x.options().dtype(at::kLong)).repeat({x.size(0), heads, 1});
    const Tensor variance = at::mean(at::pow(q, 2), -1, /*keepdim=*/true);
    const Tensor k =
        q * at::rsqrt(variance + 1e-6) / std::sqrt(static_cast<double>(s.attention_head_size));
    Tensor scores = at::matmul(q, k.transpose(-1, -2));
    scores = masked(index.unsqueeze(-1) >= index.unsqueeze(-2), scores, -1e9);
    scores = masked(index.unsqueeze(-1) != index.unsqueeze(-2), scores, -1e5);
    return merge_heads(weigh(scores, v));
  }
};

struct FeedForward {
  Scope net;
  Sizes s;
  LayerNorm layer_norm{net["layer_norm"], {s.hidden_size}, 1e-12};
  Dense dense{net["dense"]["dense"], s.hidden_size, s.feed_forward_size};
  Dense output{net["output"]["dense"], s.feed_forward_size, s.hidden_size};
  Tensor operator()(const Tensor& x) const { return output(at::relu(dense(layer_norm(x)))); }
};

template <class SelfAttention>
struct Layer {
  Scope net;
  Sizes s;
  LayerNorm layer_norm{net["attention"]["layer_norm"], {s.hidden_size}, 1e-12};
  SelfAttention self_attention{net["attention"]["self_attention"], s};
  Dense output{net["attention"]["output"]["dense"], s.num_attention_heads* s.attention_head_size,
               s.hidden_size, false};
  FeedForward feed_forward{net["feed_forward"], s};
  // The two halves of a reversible network: what attention adds up, and what perceptrons add up.
  void operator()(Tensor& attended, Tensor& hidden) const {
    attended = attended + output(self_attention(layer_norm(hidden)));
    hidden = hidden + feed_forward(attended);
  }
};

struct Head {
  Scope net;
  Sizes s;
  Parameter bias = net.weight("bias", {s.vocab_size}, normal(0, 0.5), constant(0));
  Dense decoder{net["decoder"], 2 * s.hidden_size, s.vocab_size, false};
  Tensor operator()(const Tensor& x) const { return at::linear(x, decoder.weight, *bias); }
};

struct Model {
  Scope net;
  Sizes s;
  Table word_embeddings{net["reformer"]["embeddings"]["word_embeddings"], s.vocab_size,
                        s.hidden_size, normal()};
  AxialPositions position_embeddings{net["reformer"]["embeddings"]["position_embeddings"], s};
  std::vector<std::function<void(Tensor&, Tensor&)>> layers = made();
  LayerNorm layer_norm{net["reformer"]["encoder"]["layer_norm"], {2 * s.hidden_size}, 1e-12};
  Head head{net["lm_head"], s};

  Tensor operator()(const Tensor& ids) const {
    Tensor attended = word_embeddings(ids) + position_embeddings(ids), hidden = attended;
    for (const auto& layer : layers) layer(attended, hidden);
    return head(layer_norm(at::cat({attended, hidden}, -1)));
  }

 private:
  std::vector<std::function<void(Tensor&, Tensor&)>> made() const {
    std::vector<std::function<void(Tensor&, Tensor&)>> made;
    for (int64_t i = 0; i < s.num_hidden_layers; ++i) {
      const Scope at = net["reformer"]["encoder"]["layers"][i];
      if (i % 4 == 2) {
        made.emplace_back(Layer<LshAttention>{at, s});
      } else {
        made.emplace_back(Layer<LocalAttention>{at, s});
      }
    }
    return made;
  }
};

static auto tensors(const Sizes& s) {
  TORCH_CHECK(s.axial_pos_embds_dim[0] + s.axial_pos_embds_dim[1] == s.hidden_size,
              "axial_pos_embds_dim must add up to hidden_size");
  TORCH_CHECK(s.seq_len <= s.axial_pos_shape[0] * s.axial_pos_shape[1],
              "axial_pos_shape must have room for seq_len");
  TORCH_CHECK(
      s.seq_len <= s.local_attn_chunk_length ||
          (s.seq_len == s.lsh_attn_chunk_length && s.seq_len % s.local_attn_chunk_length == 0),
      "seq_len must be at most local_attn_chunk_length, or lsh_attn_chunk_length and whole "
      "chunks of that length");
  return std::tuple{token_ids(s.batch_size, s.seq_len, s.vocab_size), weights<Model>(s),
                    output<real>("logits", {s.batch_size, s.seq_len, s.vocab_size})};
}

static Tensor reference(const Sizes&, const Tensor& ids, const Model& model) { return model(ids); }

inline Task reformer(const SizeSets<Sizes>& sets) {
  return define<decltype(launch)>("Arch-Transformer", tensors, reference, sets);
}
