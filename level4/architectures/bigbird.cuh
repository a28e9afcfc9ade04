// BigBird: launch() of its tasks. Included after task.h.
#pragma once

#include "bert.cuh"

namespace model {

/// Sequences in blocks of tokens. The first and the last block of queries see all keys, block i in
/// between sees the first block, the blocks i - 1 to i + 1 and the last. Of the keys of the first
/// block every weight counts once more for each of the `random` blocks, which all are the first.
struct Blocks {
  int64_t count, size;  ///< of a sequence; tokens of a block
  int64_t given;        ///< tokens that are no filling: keys that are seen
  int64_t random;
};

/// The first and the last block of a sequence are samples of their own, and so are all in between,
/// with 5 times as many keys as queries: the first block, three around the queries, the last.
struct QueriesOfEnds {
  Blocks b;
  __device__ int64_t operator()(int64_t sample, int64_t token) const {
    return (sample / 2 * b.count + sample % 2 * (b.count - 1)) * b.size + token;
  }
};
struct KeysOfEnds {
  Blocks b;
  __device__ int64_t operator()(int64_t sample, int64_t key) const {
    return sample / 2 * b.count * b.size + key;
  }
};
struct QueriesOfBlocks {
  Blocks b;
  __device__ int64_t operator()(int64_t sample, int64_t token) const {
    const int64_t inner = b.count - 2, sequence = sample / inner;
    return (sequence * b.count + 1 + sample % inner) * b.size + token;
  }
};
/// The block of a key of the blocks around `middle`.
__device__ inline int block_of_key(int middle, int part, int count) {
  return part == 0 ? 0 : part == 4 ? count - 1 : middle + part - 2;
}
struct KeysOfBlocks {
  Blocks b;
  __device__ int64_t operator()(int64_t sample, int64_t key) const {
    const int64_t sequence = sample / (b.count - 2);
    const int middle = 1 + static_cast<int>(sample - sequence * (b.count - 2));
    const int size = static_cast<int>(b.size), part = static_cast<int>(key) / size;
    const int block = block_of_key(middle, part, static_cast<int>(b.count));
    return (sequence * b.count + block) * b.size + static_cast<int>(key) - part * size;
  }
};

/// The score of a key that counts n times is its own plus log(n).
struct ScoreOfBlocks {
  Blocks b;
  float factor;
  struct OfQuery {
    int size, count, random, given, middle;
    float factor;
    __device__ float operator()(float v, int64_t key) const {
      const int at = static_cast<int>(key), part = at / size;
      // At both ends of the sequence one of the three blocks is the first, or the last, itself.
      const int times = part == 0 ? random + (middle != 1) : part == 4 ? middle != count - 2 : 1;
      const int token = block_of_key(middle, part, count) * size + at - part * size;
      if (token >= given || times == 0) return -INFINITY;
      const float score = __fmul_rn(v, factor);
      return times == 1 ? score : score + logf(static_cast<float>(times));
    }
  };
  __device__ OfQuery operator()(int64_t sample, int64_t, int64_t) const {
    return {static_cast<int>(b.size),
            static_cast<int>(b.count),
            static_cast<int>(b.random),
            static_cast<int>(b.given),
            1 + static_cast<int>(sample % (b.count - 2)),
            factor};
  }
};

/// q, k, v: [samples * count * size, heads * head_size].
inline FeatureMap attend_in_blocks(const Network& net, const Blocks& b, int64_t heads,
                                   const FeatureMap& q, const FeatureMap& k, const FeatureMap& v) {
  const int64_t width = q.channels, size = width / heads, tokens = b.count * b.size;
  const int64_t samples = q.samples / tokens;
  const FeatureMap y = net.make(q.samples, width);
  const kb::AttentionShape ends = {heads, b.size, b.given, size, width, width},
                           inner = {heads, b.size, 5 * b.size, size, width, width};
  const real *const queries = q.data, *const keys = k.data, *const values = v.data;
  kb::launch_any_attention<kb::AttentionRows::softmax>(
      net.stream(), samples * 2, ends, QueriesOfEnds{b}, KeysOfEnds{b},
      kb::ScaledScore{ends.factor()}, kb::SeesAll{}, queries, keys, values, y.data);
  kb::launch_any_attention<kb::AttentionRows::softmax>(
      net.stream(), samples * (b.count - 2), inner, QueriesOfBlocks{b}, KeysOfBlocks{b},
      ScoreOfBlocks{b, inner.factor()}, kb::SeesAll{}, queries, keys, values, y.data);
  return y;
}

}  // namespace model

void task::launch(const Sizes& s, const int64_t* input_ids, const kb::Weights& weights,
                  real* logits, cudaStream_t stream) {
  using namespace model;
  const Network net(weights, stream);
  const bool sparse = s.seq_len > (5 + 2 * s.num_random_blocks) * s.block_size;
  const Blocks blocks = {ceil_div(s.seq_len, s.block_size), s.block_size, s.seq_len,
                         s.num_random_blocks};
  const Tokens tokens = {input_ids, s.batch_size, s.seq_len,
                         sparse ? blocks.count * blocks.size : s.seq_len};
  const auto attention = [&](const FeatureMap& q, const FeatureMap& k, const FeatureMap& v) {
    return sparse ? attend_in_blocks(net, blocks, s.num_attention_heads, q, k, v)
                  : attend(net, tokens, s.num_attention_heads, kb::SeesAll{}, q, k, v);
  };
  FeatureMap x = bert_embeddings(net, "bert.embeddings", tokens);
  for (int64_t i = 0; i < s.num_hidden_layers; ++i) {
    x = bert_layer(net, "bert.encoder.layer." + std::to_string(i), x, Activation::gelu_tanh,
                   attention);
  }
  x = net.linear("cls.predictions.transform.dense", x, Activation::gelu_tanh);
  x = net.layer_norm("cls.predictions.transform.LayerNorm", x, bert_eps);
  // Filling has no logits.
  const int64_t together = tokens.tokens == s.seq_len ? s.batch_size : 1;
  for (int64_t n = 0; n < s.batch_size; n += together) {
    const int64_t rows = together * s.seq_len;
    logits_to(net.output(logits + n * s.seq_len * s.vocab_size, rows, s.vocab_size), net,
              "bert.embeddings.word_embeddings.weight",
              net.input(x.data + n * tokens.tokens * s.hidden_size, rows, s.hidden_size),
              net.weight("cls.predictions.bias"));
  }
}
