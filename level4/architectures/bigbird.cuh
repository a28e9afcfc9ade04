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

/// One block per query of blocks 1 to count - 2: softmax of its scores of (first block, three
/// blocks, last block).
template <class T>
__global__ void weigh_blocks(const float* scores, Blocks b, T* weights) {
  const int64_t block = 1 + blockIdx.x / b.size, columns = 5 * b.size;
  scores += blockIdx.x * columns;
  weights += blockIdx.x * columns;
  const auto times = [&](int64_t column) -> float {
    const int64_t part = column / b.size;
    const int64_t key = column - part * b.size +
                        (part == 0   ? 0
                         : part == 4 ? b.count - 1
                                     : block + part - 2) *
                            b.size;
    if (key >= b.given) return 0;
    // At both ends of the sequence one of the three blocks is the first, or the last, itself.
    if (part == 0) return static_cast<float>(b.random + (block == 1 ? 0 : 1));
    if (part == 4) return block == b.count - 2 ? 0.f : 1.f;
    return 1;
  };
  float max = -INFINITY, sum = 0;
  for (int64_t i = threadIdx.x; i < columns; i += blockDim.x) {
    if (times(i) > 0) max = kb::Max{}(max, scores[i]);
  }
  max = kb::combine(kb::Block{}, max, kb::Max{});
  for (int64_t i = threadIdx.x; i < columns; i += blockDim.x) {
    const float n = times(i);
    if (n > 0) sum += n * expf(scores[i] - max);
  }
  sum = kb::combine(kb::Block{}, sum, kb::Sum{});
  for (int64_t i = threadIdx.x; i < columns; i += blockDim.x) {
    const float n = times(i);
    weights[i] = static_cast<T>(n > 0 ? n * expf(scores[i] - max) / sum : 0.f);
  }
}

/// Epilogue that adds what there is already.
struct AddTo {
  const real* y;
  int64_t stride, batch_stride;
  __device__ float operator()(float v, int64_t batch, int64_t row, int64_t column) const {
    return v + static_cast<float>(y[batch * batch_stride + row * stride + column]);
  }
};

/// The blocks 1 to count - 2 of one head of one sample; q, k, v and out start at its first token.
inline void attend_to_blocks(cudaStream_t stream, const Blocks& b, int64_t head_size,
                             int64_t stride, const real* q, const real* k, const real* v,
                             float* scores, real* weights, real* out) {
  const int64_t inner = b.count - 2, columns = 5 * b.size, block = b.size * stride;
  const int64_t last = (b.count - 1) * block;
  const kb::ScaleScore scale = {1 / std::sqrt(static_cast<float>(head_size))};
  q += block;
  out += block;

  const kb::ProductShape to_block = {inner * b.size, b.size, head_size};
  const kb::ProductShape to_three = {b.size, 3 * b.size, head_size, inner};
  using Scores = kb::Store<float, kb::ScaleScore>;
  const int64_t scores_of_block = b.size * columns;
  kb::launch_product(stream, to_block, kb::left(q, to_block, stride),
                     kb::right_transposed(k, to_block, stride), Scores{scores, columns, 0, scale});
  kb::launch_product(stream, to_three, kb::left(q, to_three, stride, block),
                     kb::right_transposed(k, to_three, stride, block),
                     Scores{scores + b.size, columns, scores_of_block, scale});
  kb::launch_product(stream, to_block, kb::left(q, to_block, stride),
                     kb::right_transposed(k + last, to_block, stride),
                     Scores{scores + 4 * b.size, columns, 0, scale});

  weigh_blocks<<<static_cast<unsigned>(inner * b.size), 128, 0, stream>>>(scores, b, weights);

  const kb::ProductShape of_block = {inner * b.size, head_size, b.size};
  const kb::ProductShape of_three = {b.size, head_size, 3 * b.size, inner};
  const real* const w = weights;
  using Sums = kb::Store<real, AddTo>;
  const AddTo more = {out, stride, 0};
  kb::launch_product(stream, of_three, kb::left(w + b.size, of_three, columns, scores_of_block),
                     kb::right(v, of_three, stride, block), kb::Store<real>{out, stride, block});
  kb::launch_product(stream, of_block, kb::left(w, of_block, columns),
                     kb::right(v, of_block, stride), Sums{out, stride, 0, more});
  kb::launch_product(stream, of_block, kb::left(w + 4 * b.size, of_block, columns),
                     kb::right(v + last, of_block, stride), Sums{out, stride, 0, more});
}

/// q, k, v: [samples * count * size, heads * head_size].
inline FeatureMap attend_in_blocks(const Network& net, const Blocks& b, int64_t heads,
                                   const FeatureMap& q, const FeatureMap& k, const FeatureMap& v) {
  const int64_t width = q.channels, tokens = b.count * b.size, inner = (b.count - 2) * b.size;
  const FeatureMap y = net.make(q.samples, width);
  float* scores = nullptr;
  cudaMallocAsync(&scores, inner * 5 * b.size * sizeof(float), net.stream());
  const FeatureMap weights = net.make(inner, 5 * b.size);
  for (int64_t at = 0; at < q.samples * width; at += tokens * width) {
    for (const int64_t first : {int64_t{0}, tokens - b.size}) {
      const kb::AttentionShape ends = {heads, b.size, b.given, width / heads, width, width, false};
      kb::launch_attention<kb::AttentionRows::softmax>(
          net.stream(), ends, static_cast<const real*>(q.data) + at + first * width,
          static_cast<const real*>(k.data) + at, static_cast<const real*>(v.data) + at,
          y.data + at + first * width);
    }
    for (int64_t head = 0; head < heads; ++head) {
      const int64_t from = at + head * (width / heads);
      attend_to_blocks(net.stream(), b, width / heads, width, q.data + from, k.data + from,
                       v.data + from, scores, weights.data, y.data + from);
    }
  }
  cudaFreeAsync(scores, net.stream());
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
  for (int64_t n = 0; n < s.batch_size; ++n) {  // filling has no logits
    logits_to(net.output(logits + n * s.seq_len * s.vocab_size, s.seq_len, s.vocab_size), net,
              "bert.embeddings.word_embeddings.weight",
              net.input(x.data + n * tokens.tokens * s.hidden_size, s.seq_len, s.hidden_size),
              net.weight("cls.predictions.bias"));
  }
}
