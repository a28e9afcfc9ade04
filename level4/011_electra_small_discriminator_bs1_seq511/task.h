// The generator of ELECTRA (Hugging Face's ElectraForCausalLM): logits of each token.
// input_ids: [batch_size, seq_len]; logits: [batch_size, seq_len, vocab_size], row-major.
//   x = LayerNorm(word_embeddings[input_ids] + token_type_embeddings[0] +
//     position_embeddings[position]), all under electra.embeddings; positions count from 0
//   x = electra.embeddings_project(x)
//   for each layer, electra.encoder.layer.i:
//     t = attention.output.LayerNorm(x + attention.output.dense(attend(attention.self.query(x),
//       attention.self.key(x), attention.self.value(x))))
//     x = output.LayerNorm(t + output.dense(gelu(intermediate.dense(t))))
//   x = generator_predictions.LayerNorm(gelu(generator_predictions.dense(x)))
//   logits = x * transpose(electra.embeddings.word_embeddings) + generator_lm_head.bias
// A linear layer is x * transpose(weight) + bias. Head h has the elements h * d to (h + 1) * d of
// q, k and v, d = hidden_size / num_attention_heads. attend, for each head: softmax(q *
// transpose(k) / sqrt(d)) * v, where a token sees all tokens; the heads side by side again. gelu(x)
// = x / 2 * (1 + erf(x / sqrt(2))). Layer norm of a row: (x - mean) / sqrt(var + 1e-12) * weight +
// bias, var without Bessel's correction.
// Weights: under "electra.embeddings.": "word_embeddings.weight" [vocab_size, embedding_size],
// "position_embeddings.weight" [max_position_embeddings, embedding_size],
// "token_type_embeddings.weight" [type_vocab_size, embedding_size], "LayerNorm.weight",
// "LayerNorm.bias" [embedding_size]; "electra.embeddings_project.weight" [hidden_size,
// embedding_size], "electra.embeddings_project.bias"; for each layer under
// "electra.encoder.layer.i.": "attention.self.query.weight" [hidden_size, hidden_size],
// "attention.self.query.bias", likewise "key" and "value", "attention.output.dense.weight"
// [hidden_size, hidden_size], "attention.output.dense.bias", "attention.output.LayerNorm.weight",
// "attention.output.LayerNorm.bias", "intermediate.dense.weight" [intermediate_size, hidden_size],
// "intermediate.dense.bias", "output.dense.weight" [hidden_size, intermediate_size],
// "output.dense.bias", "output.LayerNorm.weight", "output.LayerNorm.bias"; under
// "generator_predictions.": "LayerNorm.weight", "LayerNorm.bias" [embedding_size], "dense.weight"
// [embedding_size, hidden_size], "dense.bias"; "generator_lm_head.bias" [vocab_size]. No more than
// the ids 0 to vocab_size - 1 occur.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 1, seq_len = 511, vocab_size = 30522, max_position_embeddings = 512,
          type_vocab_size = 2, embedding_size = 128, hidden_size = 256, num_hidden_layers = 12,
          num_attention_heads = 4, intermediate_size = 1024;
  KB_FIELDS(batch_size, seq_len, vocab_size, max_position_embeddings, type_vocab_size,
            embedding_size, hidden_size, num_hidden_layers, num_attention_heads, intermediate_size)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const int64_t* input_ids, const kb::Weights& weights, real* logits,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
