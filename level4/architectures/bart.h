// BartForCausalLM, the decoder of BART: norms after attention and perceptron. There is no encoder,
// so its attention never runs. Included after task.h.
#pragma once

#include "transformer.h"

using namespace kb;
using namespace task;

/// The attention to an encoder: weights that nobody reads.
struct EncoderAttention {
  EncoderAttention(const Scope& at, int64_t width) {
    for (const char* name : {"k_proj", "v_proj", "q_proj", "out_proj"}) {
      at["encoder_attn"][name].unread_weight("weight", {width, width});
      at["encoder_attn"][name].unread_weight("bias", {width});
    }
    at["encoder_attn_layer_norm"].unread_weight("weight", {width});
    at["encoder_attn_layer_norm"].unread_weight("bias", {width});
  }
};

struct Layer {
  Scope net;
  Sizes s;
  int64_t width = s.d_model;
  Dense k_proj{net["self_attn"]["k_proj"], width, width};
  Dense v_proj{net["self_attn"]["v_proj"], width, width};
  Dense q_proj{net["self_attn"]["q_proj"], width, width};
  Dense out_proj{net["self_attn"]["out_proj"], width, width};
  LayerNorm self_attn_layer_norm{net["self_attn_layer_norm"], {width}};
  EncoderAttention encoder_attn{net, width};
  Dense fc1{net["fc1"], width, s.decoder_ffn_dim};
  Dense fc2{net["fc2"], s.decoder_ffn_dim, width};
  LayerNorm final_layer_norm{net["final_layer_norm"], {width}};
  Tensor operator()(Tensor x) const {
    const int64_t heads = s.decoder_attention_heads;
    const Tensor t = attend(split_heads(q_proj(x), heads), split_heads(k_proj(x), heads),
                            split_heads(v_proj(x), heads), /*causal=*/true);
    x = self_attn_layer_norm(x + out_proj(merge_heads(t)));
    return final_layer_norm(x + fc2(at::gelu(fc1(x))));
  }
};

struct Model {
  Scope net;
  Sizes s;
  Scope decoder = net["model"]["decoder"];
  Table embed_tokens{decoder["embed_tokens"], s.vocab_size, s.d_model};
  Table embed_positions{decoder["embed_positions"], s.max_position_embeddings + 2, s.d_model};
  std::vector<Layer> layers = repeat<Layer>(decoder["layers"], s.decoder_layers, s);
  LayerNorm layernorm_embedding{decoder["layernorm_embedding"], {s.d_model}};
  Tensor operator()(const Tensor& ids) const {
    Tensor x = layernorm_embedding(embed_tokens(ids) + embed_positions.at_positions(ids, 2));
    for (const Layer& layer : layers) x = layer(x);
    return at::linear(x, embed_tokens.weight);
  }
};

static auto tensors(const Sizes& s) {
  TORCH_CHECK(s.d_model % s.decoder_attention_heads == 0,
              "decoder_attention_heads must divide d_model");
  TORCH_CHECK(s.seq_len <= s.max_position_embeddings,
              "seq_len must be at most max_position_embeddings");
  return std::tuple{token_ids(s.batch_size, s.seq_len, s.vocab_size), weights<Model>(s),
                    output<real>("logits", {s.batch_size, s.seq_len, s.vocab_size})};
}

static Tensor reference(const Sizes&, const Tensor& ids, const Model& model) { return model(ids); }

inline Task bart(const SizeSets<Sizes>& sets) {
  return define<decltype(launch)>("Arch-Transformer", tensors, reference, sets);
}
