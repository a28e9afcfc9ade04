// Reformer: launch() of its tasks. Included after task.h.
#pragma once

#include "transformer.cuh"

namespace model {

/// Earlier tokens of the own chunk and of the one before.
struct SeesChunks {
  int64_t chunk;
  __device__ kb::KeyRange operator()(int64_t query, int64_t) const {
    const int64_t own = query / chunk * chunk;
    return {own >= chunk ? own - chunk : 0, query + 1};
  }
};

/// Earlier tokens; the first sees itself.
struct SeesOthers {
  __device__ kb::KeyRange operator()(int64_t query, int64_t) const {
    return {0, query > 0 ? query : 1};
  }
};

/// One block per row: y = words[ids] + (rows[token / across], columns[token % across]).
__global__ void look_up_axial(const int64_t* ids, int64_t tokens, const real* words,
                              const real* rows, int64_t row_width, const real* columns,
                              int64_t column_width, int64_t across, real* y) {
  const int64_t token = blockIdx.x % tokens, width = row_width + column_width;
  words += ids[blockIdx.x] * width;
  y += blockIdx.x * width;
  const auto add = [](float a, float b) { return a + b; };
  kb::map(kb::Block{}, row_width, add, y, words, rows + token / across * row_width);
  kb::map(kb::Block{}, column_width, add, y + row_width, words + row_width,
          columns + token % across * column_width);
}

/// One warp per head of a row: y = x / sqrt(mean of x^2 + 1e-6).
__global__ void normalise_heads(const real* x, int64_t rows, int64_t size, real* y) {
  const int64_t row = kb::Grid::rank() / 32;
  if (row >= rows) return;
  x += row * size;
  y += row * size;
  const float squares = kb::reduce(
      kb::Warp{}, size, kb::Sum{}, [](float v) { return v * v; }, x);
  const float scale = 1 / sqrtf(squares / static_cast<float>(size) + 1e-6f);
  kb::map(
      kb::Warp{}, size, [=](float v) { return v * scale; }, y, x);
}

/// One block per row of two maps side by side: a layer norm of both.
__global__ void normalise_pairs(const real* a, const real* b, int64_t width, const real* weight,
                                const real* bias, real* y) {
  a += blockIdx.x * width;
  b += blockIdx.x * width;
  y += blockIdx.x * 2 * width;
  const kb::OnlineMoments merge;
  const kb::Moments m = kb::combine(kb::Block{},
                                    merge(kb::fold(kb::Block{}, width, merge, kb::Same{}, a),
                                          kb::fold(kb::Block{}, width, merge, kb::Same{}, b)),
                                    merge);
  const float scale = 1 / sqrtf(m.variance() + 1e-12f);
  const auto normalise = [=](float v, float w, float o) { return (v - m.mean) * scale * w + o; };
  kb::map(kb::Block{}, width, normalise, y, a, weight, bias);
  kb::map(kb::Block{}, width, normalise, y + width, b, weight + width, bias + width);
}

constexpr float reformer_eps = 1e-12f;

/// Attention of one layer, of which every fourth has normalised queries for keys.
template <class Sizes>
FeatureMap reformer_attention(const Network& net, const Sizes& s, const Tokens& tokens,
                              const std::string& at, bool hashing, const FeatureMap& x) {
  const auto part = [&](const char* name) {
    return net.linear(at + ".self_attention." + name, x, Activation::none, {}, false);
  };
  if (!hashing) {
    return attend(net, tokens, s.num_attention_heads, SeesChunks{s.local_attn_chunk_length},
                  part("query"), part("key"), part("value"));
  }
  const FeatureMap q = part("query_key"), k = net.make(q.samples, q.channels);
  const int64_t heads = q.samples * s.num_attention_heads;
  if (heads > 0) {
    normalise_heads<<<static_cast<unsigned>(ceil_div(heads * 32, 128)), 128, 0, net.stream()>>>(
        q.data, heads, s.attention_head_size, k.data);
  }
  return attend(net, tokens, s.num_attention_heads, SeesOthers{}, q, k, part("value"));
}

}  // namespace model

void task::launch(const Sizes& s, const int64_t* input_ids, const kb::Weights& weights,
                  real* logits, cudaStream_t stream) {
  using namespace model;
  const Network net(weights, stream);
  const Tokens tokens = {input_ids, s.batch_size, s.seq_len, s.seq_len};
  const int64_t rows = tokens.rows();
  if (rows <= 0) return;
  const std::string at = "reformer.embeddings.", positions = at + "position_embeddings.weights.";
  FeatureMap attended = net.make(rows, s.hidden_size);
  look_up_axial<<<static_cast<unsigned>(rows), 128, 0, stream>>>(
      input_ids, s.seq_len, net.weight(at + "word_embeddings.weight"), net.weight(positions + "0"),
      s.axial_pos_embds_dim[0], net.weight(positions + "1"), s.axial_pos_embds_dim[1],
      s.axial_pos_shape[1], attended.data);
  FeatureMap hidden = attended;
  for (int64_t i = 0; i < s.num_hidden_layers; ++i) {
    const std::string layer = "reformer.encoder.layers." + std::to_string(i);
    const FeatureMap t =
        reformer_attention(net, s, tokens, layer + ".attention", i % 4 == 2,
                           net.layer_norm(layer + ".attention.layer_norm", hidden, reformer_eps));
    attended = net.linear(layer + ".attention.output.dense", t, Activation::none, attended, false);
    const FeatureMap wide =
        net.linear(layer + ".feed_forward.dense.dense",
                   net.layer_norm(layer + ".feed_forward.layer_norm", attended, reformer_eps),
                   Activation::relu);
    hidden = net.linear(layer + ".feed_forward.output.dense", wide, Activation::none, hidden);
  }
  const FeatureMap both = net.make(rows, 2 * s.hidden_size);
  normalise_pairs<<<static_cast<unsigned>(rows), 128, 0, stream>>>(
      attended.data, hidden.data, s.hidden_size, net.weight("reformer.encoder.layer_norm.weight"),
      net.weight("reformer.encoder.layer_norm.bias"), both.data);
  logits_to(net.output(logits, rows, s.vocab_size), net, "lm_head.decoder.weight", both,
            net.weight("lm_head.bias"));
}
