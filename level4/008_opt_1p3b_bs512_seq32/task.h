// OPT (Hugging Face's OPTForCausalLM): logits of the next token after each token. All names begin
// with "model.decoder.".
// input_ids: [batch_size, seq_len]; logits: [batch_size, seq_len, vocab_size], row-major.
//   x = embed_tokens[input_ids] + embed_positions[position + 2], positions count from 0
//   for each layer, layers.i:
//     t = self_attn_layer_norm(x)
//     x = x + self_attn.out_proj(attention(self_attn.q_proj(t), self_attn.k_proj(t),
//       self_attn.v_proj(t)))
//     x = x + fc2(relu(fc1(final_layer_norm(x))))
//   logits = final_layer_norm(x) * transpose(embed_tokens), the norm outside of the layers
// A linear layer is x * transpose(weight) + bias. Head h has the elements h * d to (h + 1) * d of
// q, k and v, d = hidden_size / num_attention_heads. Attention of a head: softmax(q * transpose(k)
// / sqrt(d)) * v, where a token sees itself and earlier ones; the heads side by side again. Layer
// norm of a row: (x - mean) / sqrt(var + 1e-5) * weight + bias, var without Bessel's correction.
// Weights: "embed_tokens.weight" [vocab_size, hidden_size], "embed_positions.weight"
// [max_position_embeddings + 2, hidden_size], "final_layer_norm.weight", "final_layer_norm.bias"
// [hidden_size]; for each layer under "layers.i.": "self_attn.k_proj.weight" [hidden_size,
// hidden_size], "self_attn.k_proj.bias", likewise "v_proj", "q_proj" and "out_proj",
// "self_attn_layer_norm.weight", "self_attn_layer_norm.bias", "fc1.weight" [ffn_dim, hidden_size],
// "fc1.bias", "fc2.weight" [hidden_size, ffn_dim], "fc2.bias", "final_layer_norm.weight",
// "final_layer_norm.bias". No more than the ids 0 to vocab_size - 1 occur.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 512, seq_len = 32, vocab_size = 50272, max_position_embeddings = 2048,
          hidden_size = 2048, num_hidden_layers = 24, num_attention_heads = 32, ffn_dim = 8192;
  KB_FIELDS(batch_size, seq_len, vocab_size, max_position_embeddings, hidden_size,
            num_hidden_layers, num_attention_heads, ffn_dim)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const int64_t* input_ids, const kb::Weights& weights, real* logits,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
