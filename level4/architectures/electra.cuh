// ELECTRA's generator: launch() of its tasks. Included after task.h.
#pragma once

#include "bert.cuh"

void task::launch(const Sizes& s, const int64_t* input_ids, const kb::Weights& weights,
                  real* logits, cudaStream_t stream) {
  using namespace model;
  const Network net(weights, stream);
  const Tokens tokens = {input_ids, s.batch_size, s.seq_len, s.seq_len};
  const auto attention = [&](const FeatureMap& q, const FeatureMap& k, const FeatureMap& v) {
    return attend(net, tokens, s.num_attention_heads, kb::SeesAll{}, q, k, v);
  };
  FeatureMap x = bert_embeddings(net, "electra.embeddings", tokens);
  x = net.linear("electra.embeddings_project", x);
  for (int64_t i = 0; i < s.num_hidden_layers; ++i) {
    x = bert_layer(net, "electra.encoder.layer." + std::to_string(i), x, Activation::gelu,
                   attention);
  }
  x = net.linear("generator_predictions.dense", x, Activation::gelu);
  x = net.layer_norm("generator_predictions.LayerNorm", x, bert_eps);
  logits_to(net.output(logits, tokens.rows(), s.vocab_size), net,
            "electra.embeddings.word_embeddings.weight", x, net.weight("generator_lm_head.bias"));
}
