// GPT2LMHeadModel. Included after task.h.
#pragma once

#include "transformer.h"

using namespace kb;
using namespace task;

/// A linear layer whose weight is [in, out].
struct Conv1D {
  Parameter weight, bias;
  Conv1D(const Scope& at, int64_t in, int64_t out)
      : weight(at.weight("weight", {in, out}, fan_in_normal(in), upstream_matrix())),
        bias(at.weight("bias", {out}, normal(0, 0.5), constant(0))) {}
  Tensor operator()(const Tensor& x) const {
    const Shape shape = {x.size(0), x.size(1), weight->size(1)};
    return at::addmm(*bias, x.view({-1, x.size(-1)}), weight).view(shape);
  }
};

struct Block {
  Scope net;
  Sizes s;
  LayerNorm ln_1{net["ln_1"], {s.n_embd}};
  Conv1D c_attn{net["attn"]["c_attn"], s.n_embd, 3 * s.n_embd};
  Conv1D attn_c_proj{net["attn"]["c_proj"], s.n_embd, s.n_embd};
  LayerNorm ln_2{net["ln_2"], {s.n_embd}};
  Conv1D c_fc{net["mlp"]["c_fc"], s.n_embd, 4 * s.n_embd};
  Conv1D mlp_c_proj{net["mlp"]["c_proj"], 4 * s.n_embd, s.n_embd};
  Tensor operator()(Tensor x) const {
    const std::vector<Tensor> qkv = c_attn(ln_1(x)).split(s.n_embd, 2);
    const Tensor t = attend(split_heads(qkv[0], s.n_head), split_heads(qkv[1], s.n_head),
                            split_heads(qkv[2], s.n_head), /*causal=*/true);
    x = attn_c_proj(merge_heads(t)) + x;
    return x + mlp_c_proj(gelu_new(c_fc(ln_2(x))));
  }
};

struct Model {
  Scope net;
  Sizes s;
  Table wte{net["transformer"]["wte"], s.vocab_size, s.n_embd};
  Table wpe{net["transformer"]["wpe"], s.n_positions, s.n_embd};
  std::vector<Block> h = repeat<Block>(net["transformer"]["h"], s.n_layer, s);
  LayerNorm ln_f{net["transformer"]["ln_f"], {s.n_embd}};
  Tensor operator()(const Tensor& ids) const {
    Tensor x = wte(ids) + wpe.at_positions(ids);
    for (const Block& block : h) x = block(x);
    return at::linear(ln_f(x), wte.weight);
  }
};

static auto tensors(const Sizes& s) {
  TORCH_CHECK(s.n_embd % s.n_head == 0, "n_head must divide n_embd");
  TORCH_CHECK(s.seq_len <= s.n_positions, "seq_len must be at most n_positions");
  return std::tuple{token_ids(s.batch_size, s.seq_len, s.vocab_size), weights<Model>(s),
                    output<real>("logits", {s.batch_size, s.seq_len, s.vocab_size})};
}

static Tensor reference(const Sizes&, const Tensor& ids, const Model& model) { return model(ids); }

inline Task gpt2(const SizeSets<Sizes>& sets) {
  return define<decltype(launch)>("Arch-Transformer", tensors, reference, sets);
}
