// Reformer (Hugging Face's ReformerModelWithLMHead): logits of the next token after each token.
// input_ids: [batch_size, seq_len]; logits: [batch_size, seq_len, vocab_size], row-major.
//   a = b = reformer.embeddings.word_embeddings[input_ids] + position
//   for each layer, reformer.encoder.layers.i:
//     a = a + attention.output.dense(attend(attention.layer_norm(b)))
//     b = b + feed_forward.output.dense(relu(feed_forward.dense.dense(feed_forward.layer_norm(a))))
//   logits = reformer.encoder.layer_norm(a and b side by side) * transpose(lm_head.decoder) +
//     lm_head.bias
// position of token p is row p / axial_pos_shape[1] of
// reformer.embeddings.position_embeddings.weights.0 and, behind it, row p % axial_pos_shape[1] of
// weights.1. A linear layer is x * transpose(weight) + bias; those of attention have no bias. Layer
// norm of a row: (x - mean) / sqrt(var + 1e-12) * weight + bias, var without Bessel's correction.
// attend, for each head, d = attention_head_size: head h has the elements h * d to (h + 1) * d of
// q, k and v, results stand side by side in the same way.
//   Layers i with i % 4 == 2: q = query_key(x), k = q / sqrt(mean of q^2 over the head + 1e-6), v =
//     value(x); softmax(q * transpose(k) / sqrt(d)) * v, where a token sees earlier ones and not
//     itself; token 0 sees itself.
//   Other layers: q = query(x), k = key(x), v = value(x); softmax(q * transpose(k) / sqrt(d)) * v,
//     where a token sees itself and earlier ones, of which those count that are in its own chunk of
//     local_attn_chunk_length tokens or in the one before.
// seq_len is at most local_attn_chunk_length, or lsh_attn_chunk_length and a multiple of the
// former: no layer hashes there.
// Weights: "reformer.embeddings.word_embeddings.weight" [vocab_size, hidden_size],
// "reformer.embeddings.position_embeddings.weights.0" [axial_pos_shape[0], 1,
// axial_pos_embds_dim[0]], "reformer.embeddings.position_embeddings.weights.1" [1,
// axial_pos_shape[1], axial_pos_embds_dim[1]]; for each layer under "reformer.encoder.layers.i.":
// "attention.layer_norm.weight", "attention.layer_norm.bias" [hidden_size],
// "attention.self_attention.query.weight" [num_attention_heads * d, hidden_size], likewise "key"
// and "value", or "query_key" and "value", "attention.output.dense.weight" [hidden_size,
// num_attention_heads * d], "feed_forward.layer_norm.weight", "feed_forward.layer_norm.bias",
// "feed_forward.dense.dense.weight" [feed_forward_size, hidden_size],
// "feed_forward.dense.dense.bias", "feed_forward.output.dense.weight" [hidden_size,
// feed_forward_size], "feed_forward.output.dense.bias"; "reformer.encoder.layer_norm.weight",
// "reformer.encoder.layer_norm.bias" [2 * hidden_size], "lm_head.bias" [vocab_size],
// "lm_head.decoder.weight" [vocab_size, 2 * hidden_size]. No more than the ids 0 to vocab_size - 1
// occur.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 1024, seq_len = 32, vocab_size = 258;
  std::array<int64_t, 2> axial_pos_shape = {128, 512};
  std::array<int64_t, 2> axial_pos_embds_dim = {256, 768};
  int64_t hidden_size = 1024, num_hidden_layers = 12, num_attention_heads = 8,
          attention_head_size = 128, feed_forward_size = 4096, local_attn_chunk_length = 128,
          lsh_attn_chunk_length = 256;
  KB_FIELDS(batch_size, seq_len, vocab_size, axial_pos_shape, axial_pos_embds_dim, hidden_size,
            num_hidden_layers, num_attention_heads, attention_head_size, feed_forward_size,
            local_attn_chunk_length, lsh_attn_chunk_length)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const int64_t* input_ids, const kb::Weights& weights, real* logits,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
