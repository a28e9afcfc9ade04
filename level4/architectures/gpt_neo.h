// GPTNeoForCausalLM: layers attend to all earlier tokens and to a window of them in turns. Included
// after task.h.
#pragma once

#include <limits>

#include "transformer.h"

using namespace kb;
using namespace task;

constexpr double least = std::numeric_limits<float>::lowest();

/// Scores are not scaled: queries are small instead.
struct Attention {
  Scope net;
  Sizes s;
  Dense k_proj{net["k_proj"], s.hidden_size, s.hidden_size, false};
  Dense v_proj{net["v_proj"], s.hidden_size, s.hidden_size, false};
  Dense q_proj{net["q_proj"], s.hidden_size, s.hidden_size, false,
               1 / std::sqrt(static_cast<double>(s.hidden_size / s.num_heads))};
  Dense out_proj{net["out_proj"], s.hidden_size, s.hidden_size};
  Tensor operator()(const Tensor& x, const Tensor& seen, const Tensor& mask) const {
    const Tensor q = split_heads(q_proj(x), s.num_heads), k = split_heads(k_proj(x), s.num_heads),
                 v = split_heads(v_proj(x), s.num_heads);
    Tensor scores = at::matmul(q, k.transpose(-1, -2));
    scores = at::where(seen, scores, at::scalar_tensor(least, scores.options()));
    scores = scores + mask;
    return out_proj(merge_heads(at::matmul(at::softmax(scores, -1), v)));
  }
};

struct Block {
  Scope net;
  Sizes s;
  LayerNorm ln_1{net["ln_1"], {s.hidden_size}};
  Attention attention{net["attn"]["attention"], s};
  LayerNorm ln_2{net["ln_2"], {s.hidden_size}};
  Dense c_fc{net["mlp"]["c_fc"], s.hidden_size, 4 * s.hidden_size};
  Dense c_proj{net["mlp"]["c_proj"], 4 * s.hidden_size, s.hidden_size};
  Tensor operator()(Tensor x, const Tensor& seen, const Tensor& mask) const {
    x = attention(ln_1(x), seen, mask) + x;
    return x + c_proj(gelu_new(c_fc(ln_2(x))));
  }
};

struct Model {
  Scope net;
  Sizes s;
  Table wte{net["transformer"]["wte"], s.vocab_size, s.hidden_size};
  Table wpe{net["transformer"]["wpe"], s.max_position_embeddings, s.hidden_size};
  std::vector<Block> h = repeat<Block>(net["transformer"]["h"], s.num_layers, s);
  LayerNorm ln_f{net["transformer"]["ln_f"], {s.hidden_size}};
  Tensor operator()(const Tensor& ids) const {
    Tensor x = wte(ids) + wpe.at_positions(ids);
    const Tensor earlier =
        at::tril(at::ones({s.seq_len, s.seq_len}, ids.options().dtype(at::kBool)));
    const Tensor near = at::bitwise_xor(earlier, at::tril(earlier, -s.window_size));
    const Tensor mask = at::where(earlier, at::scalar_tensor(0, x.options()),
                                  at::scalar_tensor(least, x.options()));
    for (size_t i = 0; i < h.size(); ++i) x = h[i](x, i % 2 == 0 ? earlier : near, mask);
    return at::linear(ln_f(x), wte.weight);
  }
};

static auto tensors(const Sizes& s) {
  TORCH_CHECK(s.hidden_size % s.num_heads == 0, "num_heads must divide hidden_size");
  TORCH_CHECK(s.window_size >= 1, "window_size must be 1 or more");
  TORCH_CHECK(s.seq_len <= s.max_position_embeddings,
              "seq_len must be at most max_position_embeddings");
  return std::tuple{token_ids(s.batch_size, s.seq_len, s.vocab_size), weights<Model>(s),
                    output<real>("logits", {s.batch_size, s.seq_len, s.vocab_size})};
}

static Tensor reference(const Sizes&, const Tensor& ids, const Model& model) { return model(ids); }

inline Task gpt_neo(const SizeSets<Sizes>& sets) {
  return define<decltype(launch)>("Arch-Transformer", tensors, reference, sets);
}
