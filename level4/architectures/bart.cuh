// BART's decoder: launch() of its tasks. Included after task.h.
#pragma once

#include "transformer.cuh"

void task::launch(const Sizes& s, const int64_t* input_ids, const kb::Weights& weights,
                  real* logits, cudaStream_t stream) {
  using namespace model;
  const Network net(weights, stream);
  const Tokens tokens = {input_ids, s.batch_size, s.seq_len, s.seq_len};
  const std::string decoder = "model.decoder.", table = decoder + "embed_tokens.weight";
  FeatureMap x = embed(net, tokens, {table, decoder + "embed_positions.weight", {}, 2});
  x = net.layer_norm(decoder + "layernorm_embedding", x);
  for (int64_t i = 0; i < s.decoder_layers; ++i) {
    const std::string at = decoder + "layers." + std::to_string(i);
    const auto part = [&](const char* name) { return net.linear(at + ".self_attn." + name, x); };
    const FeatureMap mixed = attend(net, tokens, s.decoder_attention_heads, kb::SeesEarlier{},
                                    part("q_proj"), part("k_proj"), part("v_proj"));
    x = net.layer_norm(at + ".self_attn_layer_norm",
                       net.linear(at + ".self_attn.out_proj", mixed, Activation::none, x));
    const FeatureMap wide = net.linear(at + ".fc1", x, Activation::gelu);
    x = net.layer_norm(at + ".final_layer_norm",
                       net.linear(at + ".fc2", wide, Activation::none, x));
  }
  logits_to(net.output(logits, tokens.rows(), s.vocab_size), net, table, x);
}
