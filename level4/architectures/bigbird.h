// BigBirdForCausalLM, whose tokens see each other (it is no decoder): all of them in short
// sequences, some blocks of them in long ones. Included after task.h.
#pragma once

#include "bert.h"

using namespace kb;
using namespace task;

/// Attention of blocks of tokens to some blocks: themselves and their neighbours, the first, the
/// last, and num_random_blocks others, all of which are the first outside of training.
class BlockSparseAttention {
 public:
  /// @param mask  [batch, tokens]: 0 where a token only fills the last block
  BlockSparseAttention(const Sizes& s, Tensor mask) : s_(s), mask_(std::move(mask)) {}

  // q, k, v: [batch, heads, tokens, size]
  Tensor operator()(const Tensor& q, const Tensor& k, const Tensor& v) const {
    const int64_t blocks = q.size(2) / s_.block_size, last = blocks - 1;
    const Tensor to = mask_.view({q.size(0), 1, 1, -1});
    const Parts qs = in_blocks(q), ks = in_blocks(k), vs = in_blocks(v);
    const Tensor random_k = random_blocks(ks), random_v = random_blocks(vs);
    const Tensor random_mask = mask_of_random_blocks(q.size(1), blocks);

    const Tensor first = attend_to(qs.select(2, 0), k, v, to);
    const Tensor second = attend_to_few(qs, ks, vs, random_k, random_v, random_mask, 1);
    const Tensor middle = attend_in_a_band(qs, ks, vs, random_k, random_v, random_mask);
    const Tensor before_last = attend_to_few(qs, ks, vs, random_k, random_v, random_mask, last - 1);
    const Tensor at_last = attend_to(qs.select(2, last), k, v, to);

    Tensor all = at::cat({first.unsqueeze(2), second.unsqueeze(2), middle, before_last.unsqueeze(2),
                          at_last.unsqueeze(2)},
                         2);
    all = all.view(q.sizes()) * mask_.view({q.size(0), 1, -1, 1});
    return at::transpose(all, 1, 2).contiguous().view({q.size(0), q.size(2), -1});
  }

 private:
  using Parts = Tensor;  // [batch, heads, blocks, block_size, size]

  Parts in_blocks(const Tensor& x) const {
    return x.reshape({x.size(0), x.size(1), -1, s_.block_size, x.size(3)});
  }
  // [batch, heads, blocks - 2, num_random_blocks * block_size, size]
  Tensor random_blocks(const Parts& x) const {
    const int64_t places = x.size(2) - 2;
    const Tensor chosen = at::zeros({places * s_.num_random_blocks}, x.options().dtype(at::kLong));
    return x.index_select(2, chosen).view(
        {x.size(0), x.size(1), places, s_.num_random_blocks * s_.block_size, x.size(4)});
  }
  // [batch, heads, blocks - 2, block_size, num_random_blocks * block_size]
  Tensor mask_of_random_blocks(int64_t heads, int64_t blocks) const {
    const int64_t batch = mask_.size(0), places = blocks - 2;
    const Tensor by_block = mask_.view({batch, blocks, s_.block_size});
    const Tensor chosen =
        at::zeros({heads * places * s_.num_random_blocks}, mask_.options().dtype(at::kLong));
    const Tensor keys = by_block.index_select(1, chosen).view(
        {batch, heads, places, s_.num_random_blocks * s_.block_size});
    return at::einsum("blq,bhlk->bhlqk", {by_block.slice(1, 1, -1), keys});
  }
  Tensor scaled(const Tensor& scores) const {
    return scores * (1 / std::sqrt(static_cast<double>(s_.hidden_size / s_.num_attention_heads)));
  }
  static Tensor penalty(const Tensor& mask) { return (1.0 - mask) * -10000.0; }

  // One block of queries to all keys.
  Tensor attend_to(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask) const {
    const Tensor scores = scaled(at::matmul(q, k.transpose(-1, -2))) + penalty(mask);
    return at::matmul(at::softmax(scores, -1), v);
  }
  // The second block of queries, or the last but one: the three blocks at that end, the block at
  // the other end, and random ones.
  Tensor attend_to_few(const Parts& q, const Parts& k, const Parts& v, const Tensor& random_k,
                       const Tensor& random_v, const Tensor& random_mask, int64_t block) const {
    const int64_t last = q.size(2) - 1, size = s_.block_size, place = block == 1 ? 0 : last - 2;
    const std::array<int64_t, 4> seen = block == 1
                                            ? std::array<int64_t, 4>{0, 1, 2, last}
                                            : std::array<int64_t, 4>{0, last - 2, last - 1, last};
    std::vector<Tensor> keys, values, masks;
    const Tensor to = mask_.view({q.size(0), 1, 1, -1});
    for (const int64_t b : seen) {
      keys.push_back(k.select(2, b));
      values.push_back(v.select(2, b));
      masks.push_back(to.slice(3, b * size, (b + 1) * size));
    }
    keys.push_back(random_k.select(2, place));
    values.push_back(random_v.select(2, place));
    const int64_t random = random_k.size(3);
    masks.push_back(at::ones({q.size(0), 1, 1, random}, to.options()));
    const Tensor random_seen =
        at::cat({at::ones({q.size(0), q.size(1), size, 4 * size}, to.options()),
                 random_mask.select(2, place)},
                3);
    return attend_to(q.select(2, block), at::cat(keys, 2), at::cat(values, 2),
                     at::minimum(at::cat(masks, 3), random_seen));
  }
  // All other blocks of queries: the first block, the block itself and its neighbours, random
  // ones, the last.
  Tensor attend_in_a_band(const Parts& q, const Parts& k, const Parts& v, const Tensor& random_k,
                          const Tensor& random_v, const Tensor& random_mask) const {
    const int64_t size = s_.block_size, last = q.size(2) - 1;
    const auto band = [](const Tensor& x, int64_t dim) {
      return at::cat({x.slice(dim, 1, -3), x.slice(dim, 2, -2), x.slice(dim, 3, -1)}, dim + 1);
    };
    const Tensor by_block = mask_.view({q.size(0), last + 1, size});
    const Tensor band_mask =
        at::einsum("blq,blk->blqk", {by_block.slice(1, 2, -2), band(by_block, 1)}).unsqueeze(1);
    const Tensor to = mask_.view({q.size(0), 1, 1, -1});
    const Tensor queries = q.slice(2, 2, -2), band_k = band(k, 2), band_v = band(v, 2);
    const auto middle = [](const Tensor& x) { return x.slice(2, 1, -1); };

    const Tensor near = scaled(at::matmul(queries, band_k.transpose(-1, -2)));
    const Tensor random = scaled(at::matmul(queries, middle(random_k).transpose(-1, -2)));
    const Tensor first = scaled(at::einsum("bhlqd,bhkd->bhlqk", {queries, k.select(2, 0)}));
    const Tensor end = scaled(at::einsum("bhlqd,bhkd->bhlqk", {queries, k.select(2, last)}));
    const Tensor scores = at::cat({first + penalty(to.slice(3, 0, size).unsqueeze(3)),
                                   near + penalty(band_mask), random + penalty(middle(random_mask)),
                                   end + penalty(to.slice(3, last * size).unsqueeze(3))},
                                  -1);
    const Tensor weights = at::softmax(scores, -1);
    Tensor y = at::matmul(weights.slice(-1, size, 4 * size), band_v);
    y = y + at::matmul(weights.slice(-1, 4 * size, -size), middle(random_v));
    y = y + at::einsum("bhlqk,bhkd->bhlqd", {weights.slice(-1, 0, size), v.select(2, 0)});
    return y + at::einsum("bhlqk,bhkd->bhlqd", {weights.slice(-1, -size), v.select(2, last)});
  }

  Sizes s_;
  Tensor mask_;
};

struct Predictions {
  Scope net;
  Sizes s;
  Parameter bias = net.weight("bias", {s.vocab_size}, normal(0, 0.5), constant(0));
  // Large, since the norm's epsilon must not tell a factor of the activation from none.
  Dense dense{net["transform"]["dense"], s.hidden_size, s.hidden_size, true, 16};
  LayerNorm norm{net["transform"]["LayerNorm"], {s.hidden_size}, 1e-12};
  Tensor operator()(const Tensor& x) const { return norm(gelu_new(dense(x))); }
};

/// A linear layer on the first token, of whose result upstream makes nothing.
struct Pooler {
  Pooler(const Scope& at, int64_t width) {
    at.unread_weight("weight", {width, width});
    at.unread_weight("bias", {width});
  }
};

struct Model {
  Scope net;
  Sizes s;
  Scope bert = net["bert"];
  BertEmbeddings embeddings{bert["embeddings"], s.vocab_size, s.max_position_embeddings,
                            s.type_vocab_size, s.hidden_size};
  std::vector<BertLayer> layers =
      repeat<BertLayer>(bert["encoder"]["layer"], s.num_hidden_layers, s.hidden_size,
                        s.num_attention_heads, s.intermediate_size);
  Pooler pooler{bert["pooler"], s.hidden_size};
  Predictions predictions{net["cls"]["predictions"], s};

  Tensor operator()(const Tensor& ids) const {
    const bool sparse = s.seq_len > (5 + 2 * s.num_random_blocks) * s.block_size;
    Tensor x = sparse ? in_blocks(ids) : in_full(ids);
    return at::linear(predictions(x), embeddings.word_embeddings.weight, predictions.bias);
  }

 private:
  Tensor in_full(const Tensor& ids) const {
    const auto attention = [&](const Tensor& q, const Tensor& k, const Tensor& v) {
      const Tensor scores = at::matmul(q, k.transpose(-1, -2)) /
                            std::sqrt(static_cast<double>(s.hidden_size / s.num_attention_heads));
      return merge_heads(at::matmul(at::softmax(scores, -1), v));
    };
    Tensor x = embeddings(ids);
    for (const BertLayer& layer : layers) x = layer(x, attention, gelu_new);
    return x;
  }
  // The last block is filled up with tokens 0, which nobody sees.
  Tensor in_blocks(const Tensor& ids) const {
    const int64_t filled = (s.seq_len + s.block_size - 1) / s.block_size * s.block_size;
    const std::vector<int64_t> behind = {0, filled - s.seq_len};
    Tensor x = embeddings(at::constant_pad_nd(ids, behind, 0));
    const Tensor mask = at::constant_pad_nd(at::ones(ids.sizes(), x.options()), behind, 0);
    const BlockSparseAttention attention(s, mask);
    for (const BertLayer& layer : layers) x = layer(x, attention, gelu_new);
    return x.slice(1, 0, s.seq_len);
  }
};

static auto tensors(const Sizes& s) {
  TORCH_CHECK(s.hidden_size % s.num_attention_heads == 0,
              "num_attention_heads must divide hidden_size");
  TORCH_CHECK(s.max_position_embeddings % s.block_size == 0,
              "block_size must divide max_position_embeddings");
  TORCH_CHECK(s.num_random_blocks >= 1, "num_random_blocks must be 1 or more");
  TORCH_CHECK(s.seq_len <= s.max_position_embeddings,
              "seq_len must be at most max_position_embeddings");
  return std::tuple{token_ids(s.batch_size, s.seq_len, s.vocab_size), weights<Model>(s),
                    output<real>("logits", {s.batch_size, s.seq_len, s.vocab_size})};
}

static Tensor reference(const Sizes&, const Tensor& ids, const Model& model) { return model(ids); }

inline Task bigbird(const SizeSets<Sizes>& sets) {
  return define<decltype(launch)>("Arch-Transformer", tensors, reference, sets);
}
