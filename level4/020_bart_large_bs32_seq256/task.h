// The decoder of BART (Hugging Face's BartForCausalLM): logits of the next token after each token.
// All names begin with "model.decoder.".
// input_ids: [batch_size, seq_len]; logits: [batch_size, seq_len, vocab_size], row-major.
//   x = layernorm_embedding(embed_tokens[input_ids] + embed_positions[position + 2]), positions
//     count from 0
//   for each layer, layers.i:
//     x = self_attn_layer_norm(x + self_attn.out_proj(attention(self_attn.q_proj(x),
//       self_attn.k_proj(x), self_attn.v_proj(x))))
//     x = final_layer_norm(x + fc2(gelu(fc1(x))))
//   logits = x * transpose(embed_tokens)
// A linear layer is x * transpose(weight) + bias. Head h has the elements h * d to (h + 1) * d of
// q, k and v, d = d_model / decoder_attention_heads. Attention of a head: softmax(q * transpose(k)
// / sqrt(d)) * v, where a token sees itself and earlier ones; the heads side by side again. gelu(x)
// = x / 2 * (1 + erf(x / sqrt(2))). Layer norm of a row: (x - mean) / sqrt(var + 1e-5) * weight +
// bias, var without Bessel's correction.
// Weights: "embed_tokens.weight" [vocab_size, d_model], "embed_positions.weight"
// [max_position_embeddings + 2, d_model]; for each layer under "layers.i.":
// "self_attn.k_proj.weight" [d_model, d_model], "self_attn.k_proj.bias", likewise "v_proj",
// "q_proj" and "out_proj", "self_attn_layer_norm.weight", "self_attn_layer_norm.bias" [d_model],
// "fc1.weight" [decoder_ffn_dim, d_model], "fc1.bias", "fc2.weight" [d_model, decoder_ffn_dim],
// "fc2.bias", "final_layer_norm.weight", "final_layer_norm.bias"; "layernorm_embedding.weight",
// "layernorm_embedding.bias". Each layer has the weights of an attention to an encoder, too, which
// never runs: they are not passed on. No more than the ids 0 to vocab_size - 1 occur.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 32, seq_len = 256, vocab_size = 50265, max_position_embeddings = 1024,
          d_model = 1024, decoder_layers = 12, decoder_attention_heads = 16, decoder_ffn_dim = 4096;
  KB_FIELDS(batch_size, seq_len, vocab_size, max_position_embeddings, d_model, decoder_layers,
            decoder_attention_heads, decoder_ffn_dim)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const int64_t* input_ids, const kb::Weights& weights, real* logits,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
