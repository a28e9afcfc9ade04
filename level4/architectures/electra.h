// ElectraForCausalLM: the generator of ELECTRA, whose tokens all see each other. Included after
// task.h.
#pragma once

#include "bert.h"

using namespace kb;
using namespace task;

struct Predictions {
  Scope net;
  Sizes s;
  LayerNorm norm{net["LayerNorm"], {s.embedding_size}, 1e-12};
  Dense dense{net["dense"], s.hidden_size, s.embedding_size};
  Tensor operator()(const Tensor& x) const { return norm(at::gelu(dense(x))); }
};

struct Model {
  Scope net;
  Sizes s;
  Scope electra = net["electra"];
  BertEmbeddings embeddings{electra["embeddings"], s.vocab_size, s.max_position_embeddings,
                            s.type_vocab_size, s.embedding_size};
  Dense embeddings_project{electra["embeddings_project"], s.embedding_size, s.hidden_size};
  std::vector<BertLayer> layers =
      repeat<BertLayer>(electra["encoder"]["layer"], s.num_hidden_layers, s.hidden_size,
                        s.num_attention_heads, s.intermediate_size);
  Predictions predictions{net["generator_predictions"], s};
  Parameter bias =
      net["generator_lm_head"].weight("bias", {s.vocab_size}, normal(0, 0.5), constant(0));
  Tensor operator()(const Tensor& ids) const {
    const auto attention = [](const Tensor& q, const Tensor& k, const Tensor& v) {
      return merge_heads(attend(q, k, v, /*causal=*/false));
    };
    const auto gelu = [](const Tensor& x) { return at::gelu(x); };
    Tensor x = embeddings_project(embeddings(ids));
    for (const BertLayer& layer : layers) x = layer(x, attention, gelu);
    return at::linear(predictions(x), embeddings.word_embeddings.weight, *bias);
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

inline Task electra(const SizeSets<Sizes>& sets) {
  return define<decltype(launch)>("Arch-Transformer", tensors, reference, sets);
}
