// OPTForCausalLM: norms before attention and perceptron, positions from the third row on. Included
// after task.h.
#pragma once

#include "transformer.h"

using namespace kb;
using namespace task;

struct Layer {
  Scope net;
  Sizes s;
  int64_t width = s.hidden_size;
  Dense k_proj{net["self_attn"]["k_proj"], width, width};
  Dense v_proj{net["self_attn"]["v_proj"], width, width};
  Dense q_proj{net["self_attn"]["q_proj"], width, width};
  Dense out_proj{net["self_attn"]["out_proj"], width, width};
  LayerNorm self_attn_layer_norm{net["self_attn_layer_norm"], {width}};
  Dense fc1{net["fc1"], width, s.ffn_dim};
  Dense fc2{net["fc2"], s.ffn_dim, width};
  LayerNorm final_layer_norm{net["final_layer_norm"], {width}};
  Tensor operator()(Tensor x) const {
    const int64_t heads = s.num_attention_heads;
    Tensor t = self_attn_layer_norm(x);
    const Tensor q = q_proj(t) * (1 / std::sqrt(static_cast<double>(width / heads)));
    t = attend(split_heads(q, heads), split_heads(k_proj(t), heads), split_heads(v_proj(t), heads),
               /*causal=*/true, /*scale=*/1.0);
    x = x + out_proj(merge_heads(t));
    t = final_layer_norm(x.reshape({-1, width}));
    return x + fc2(at::relu(fc1(t))).view(x.sizes());
  }
};

struct Model {
  Scope net;
  Sizes s;
  Scope decoder = net["model"]["decoder"];
  Table embed_tokens{decoder["embed_tokens"], s.vocab_size, s.hidden_size};
  Table embed_positions{decoder["embed_positions"], s.max_position_embeddings + 2, s.hidden_size};
  LayerNorm final_layer_norm{decoder["final_layer_norm"], {s.hidden_size}};
  std::vector<Layer> layers = repeat<Layer>(decoder["layers"], s.num_hidden_layers, s);
  Tensor operator()(const Tensor& ids) const {
    Tensor x = embed_tokens(ids) + embed_positions.at_positions(ids, 2);
    for (const Layer& layer : layers) x = layer(x);
    return at::linear(final_layer_norm(x), embed_tokens.weight);
  }
};

static auto tensors(const Sizes& s) {
  TORCH_CHECK(s.hidden_size % s.num_attention_heads == 0,
              "num_attention_heads must divide hidden_size");
  TORCH_CHECK(s.seq_len <= s.max_position_embeddings,
              "seq_len must be at most max_position_embeddings");
  return std::tuple{token_ids(s.batch_size, s.seq_len, s.vocab_size), weights<Model>(s),
                    output<real>("logits", {s.batch_size, s.seq_len, s.vocab_size})};
}

static Tensor reference(const Sizes&, const Tensor& ids, const Model& model) { return model(ids); }

inline Task opt(const SizeSets<Sizes>& sets) {
  return define<decltype(launch)>("Arch-Transformer", tensors, reference, sets);
}
