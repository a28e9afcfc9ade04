// What ELECTRA and BigBird share: embeddings and layers of BERT.
#pragma once

#include "transformer.cuh"

namespace model {

constexpr float bert_eps = 1e-12f;

/// @param at  "electra.embeddings" or the like
inline FeatureMap bert_embeddings(const Network& net, const std::string& at, const Tokens& tokens) {
  const FeatureMap x = embed(net, tokens,
                             {at + ".word_embeddings.weight", at + ".position_embeddings.weight",
                              at + ".token_type_embeddings.weight"});
  return net.layer_norm(at + ".LayerNorm", x, bert_eps);
}

/// @param attention  maps of q, k and v -> map
template <class Attention>
FeatureMap bert_layer(const Network& net, const std::string& at, const FeatureMap& x,
                      Activation activation, const Attention& attention) {
  const auto part = [&](const char* name) { return net.linear(at + ".attention.self." + name, x); };
  const FeatureMap mixed = attention(part("query"), part("key"), part("value"));
  const FeatureMap t = net.layer_norm(
      at + ".attention.output.LayerNorm",
      net.linear(at + ".attention.output.dense", mixed, Activation::none, x), bert_eps);
  const FeatureMap wide = net.linear(at + ".intermediate.dense", t, activation);
  return net.layer_norm(at + ".output.LayerNorm",
                        net.linear(at + ".output.dense", wide, Activation::none, t), bert_eps);
}

}  // namespace model
