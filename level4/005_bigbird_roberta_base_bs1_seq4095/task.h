// BigBird (Hugging Face's BigBirdForCausalLM, which is no decoder here): logits of each token.
// input_ids: [batch_size, seq_len]; logits: [batch_size, seq_len, vocab_size], row-major.
//   x = LayerNorm(word_embeddings[input_ids] + token_type_embeddings[0] +
//     position_embeddings[position]), all under bert.embeddings; positions count from 0
//   for each layer, bert.encoder.layer.i:
//     t = attention.output.LayerNorm(x + attention.output.dense(attend(attention.self.query(x),
//       attention.self.key(x), attention.self.value(x))))
//     x = output.LayerNorm(t + output.dense(gelu(intermediate.dense(t))))
//   x = cls.predictions.transform.LayerNorm(gelu(cls.predictions.transform.dense(x)))
//   logits = x * transpose(bert.embeddings.word_embeddings) + cls.predictions.bias
// A linear layer is x * transpose(weight) + bias. Head h has the elements h * d to (h + 1) * d of
// q, k and v, d = hidden_size / num_attention_heads. attend, for each head: softmax(q *
// transpose(k) / sqrt(d)) * v, the heads side by side again. Up to (5 + 2 * num_random_blocks) *
// block_size tokens, each sees all tokens. Longer sequences consist of n blocks of block_size
// tokens, the last one perhaps shorter. Tokens of the first and of the last block see all tokens. A
// token of block i in between sees this list of blocks: block 0; blocks i - 1, i, i + 1; block n -
// 1; num_random_blocks times block 0. A block that is listed k times has k places in the softmax,
// except that block 0 (for i = 1) or block n - 1 (for i = n - 2), which are neighbours there, do
// not count again for being the first or the last. gelu(x) = x / 2 * (1 + tanh(sqrt(2 / pi) * (x +
// 0.044715 * x^3))). Layer norm of a row: (x - mean) / sqrt(var + 1e-12) * weight + bias, var
// without Bessel's correction.
// Weights: under "bert.embeddings.": "word_embeddings.weight" [vocab_size, hidden_size],
// "position_embeddings.weight" [max_position_embeddings, hidden_size],
// "token_type_embeddings.weight" [type_vocab_size, hidden_size], "LayerNorm.weight",
// "LayerNorm.bias" [hidden_size]; for each layer under "bert.encoder.layer.i.":
// "attention.self.query.weight" [hidden_size, hidden_size], "attention.self.query.bias", likewise
// "key" and "value", "attention.output.dense.weight" [hidden_size, hidden_size],
// "attention.output.dense.bias", "attention.output.LayerNorm.weight",
// "attention.output.LayerNorm.bias", "intermediate.dense.weight" [intermediate_size, hidden_size],
// "intermediate.dense.bias", "output.dense.weight" [hidden_size, intermediate_size],
// "output.dense.bias", "output.LayerNorm.weight", "output.LayerNorm.bias"; "cls.predictions.bias"
// [vocab_size], "cls.predictions.transform.dense.weight" [hidden_size, hidden_size],
// "cls.predictions.transform.dense.bias", "cls.predictions.transform.LayerNorm.weight",
// "cls.predictions.transform.LayerNorm.bias". The weights of "bert.pooler" are not passed on:
// logits do not depend on them. No more than the ids 0 to vocab_size - 1 occur.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 1, seq_len = 4095, vocab_size = 50358, max_position_embeddings = 4096,
          type_vocab_size = 2, hidden_size = 768, num_hidden_layers = 12, num_attention_heads = 12,
          intermediate_size = 3072, block_size = 64, num_random_blocks = 3;
  KB_FIELDS(batch_size, seq_len, vocab_size, max_position_embeddings, type_vocab_size, hidden_size,
            num_hidden_layers, num_attention_heads, intermediate_size, block_size,
            num_random_blocks)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const int64_t* input_ids, const kb::Weights& weights, real* logits,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
