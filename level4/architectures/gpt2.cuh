// GPT-2: launch() of its tasks. Included after task.h.
#pragma once

#include "transformer.cuh"

void task::launch(const Sizes& s, const int64_t* input_ids, const kb::Weights& weights,
                  real* logits, cudaStream_t stream) {
  using namespace model;
  const Network net(weights, stream);
  const Tokens tokens = {input_ids, s.batch_size, s.seq_len, s.seq_len};
  FeatureMap x = embed(net, tokens, {"transformer.wte.weight", "transformer.wpe.weight"});
  for (int64_t i = 0; i < s.n_layer; ++i) {
    const std::string at = "transformer.h." + std::to_string(i);
    const FeatureMap qkv = linear_in_out(net, at + ".attn.c_attn", net.layer_norm(at + ".ln_1", x));
    const FeatureMap t = attend(net, tokens, s.n_head, s.n_embd, kb::SeesEarlier{}, qkv.data,
                                qkv.data + s.n_embd, qkv.data + 2 * s.n_embd, 3 * s.n_embd);
    x = linear_in_out(net, at + ".attn.c_proj", t, Activation::none, x);
    const FeatureMap wide = linear_in_out(net, at + ".mlp.c_fc", net.layer_norm(at + ".ln_2", x),
                                          Activation::gelu_tanh);
    x = linear_in_out(net, at + ".mlp.c_proj", wide, Activation::none, x);
  }
  logits_to(net.output(logits, tokens.rows(), s.vocab_size), net, "transformer.wte.weight",
            net.layer_norm("transformer.ln_f", x));
}
