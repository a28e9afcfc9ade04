// GPT-Neo: launch() of its tasks. Included after task.h.
#pragma once

#include "transformer.cuh"

void task::launch(const Sizes& s, const int64_t* input_ids, const kb::Weights& weights,
                  real* logits, cudaStream_t stream) {
  using namespace model;
  const Network net(weights, stream);
  const Tokens tokens = {input_ids, s.batch_size, s.seq_len, s.seq_len};
  FeatureMap x = embed(net, tokens, {"transformer.wte.weight", "transformer.wpe.weight"});
  for (int64_t i = 0; i < s.num_layers; ++i) {
    const std::string at = "transformer.h." + std::to_string(i);
    const FeatureMap t = net.layer_norm(at + ".ln_1", x);
    const auto part = [&](const char* name) {
      return net.linear(at + ".attn.attention." + name, t, Activation::none, {}, false);
    };
    const kb::SeesEarlier sees = {i % 2 == 0 ? 0 : s.window_size};
    const FeatureMap mixed =
        attend(net, tokens, s.num_heads, sees, part("q_proj"), part("k_proj"), part("v_proj"), 1.f);
    x = net.linear(at + ".attn.attention.out_proj", mixed, Activation::none, x);
    const FeatureMap wide =
        net.linear(at + ".mlp.c_fc", net.layer_norm(at + ".ln_2", x), Activation::gelu_tanh);
    x = net.linear(at + ".mlp.c_proj", wide, Activation::none, x);
  }
  logits_to(net.output(logits, tokens.rows(), s.vocab_size), net, "transformer.wte.weight",
            net.layer_norm("transformer.ln_f", x));
}
