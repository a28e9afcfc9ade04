// GPT-Neo (Hugging Face's GPTNeoForCausalLM): logits of the next token after each token.
// input_ids: [batch_size, seq_len]; logits: [batch_size, seq_len, vocab_size], row-major.
//   x = transformer.wte[input_ids] + transformer.wpe[position], positions count from 0
//   for each layer, transformer.h.i:
//     x = x + attn.attention.out_proj(attention(q_proj(ln_1(x)), k_proj(ln_1(x)), v_proj(ln_1(x))))
//     x = x + mlp.c_proj(gelu(mlp.c_fc(ln_2(x))))
//   logits = transformer.ln_f(x) * transpose(transformer.wte)
// A linear layer is x * transpose(weight) + bias; q_proj, k_proj and v_proj have no bias. Head h
// has the elements h * d to (h + 1) * d of q, k and v, d = hidden_size / num_heads. Attention of a
// head: softmax(q * transpose(k)) * v, not divided by sqrt(d); in layers 0, 2, 4, ... a token sees
// itself and all earlier ones, in layers 1, 3, 5, ... itself and the window_size - 1 before it; the
// heads side by side again. gelu(x) = x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))).
// Layer norm of a row: (x - mean) / sqrt(var + 1e-5) * weight + bias, var without Bessel's
// correction.
// Weights: "transformer.wte.weight" [vocab_size, hidden_size], "transformer.wpe.weight"
// [max_position_embeddings, hidden_size]; for each layer under "transformer.h.i.": "ln_1.weight",
// "ln_1.bias" [hidden_size], "attn.attention.k_proj.weight" [hidden_size, hidden_size],
// "attn.attention.v_proj.weight", "attn.attention.q_proj.weight", "attn.attention.out_proj.weight",
// "attn.attention.out_proj.bias", "ln_2.weight", "ln_2.bias", "mlp.c_fc.weight" [4 * hidden_size,
// hidden_size], "mlp.c_fc.bias", "mlp.c_proj.weight" [hidden_size, 4 * hidden_size],
// "mlp.c_proj.bias"; "transformer.ln_f.weight", "transformer.ln_f.bias". No more than the ids 0 to
// vocab_size - 1 occur.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 512, seq_len = 32, vocab_size = 50257, max_position_embeddings = 2048,
          hidden_size = 2560, num_layers = 32, num_heads = 20, window_size = 256;
  KB_FIELDS(batch_size, seq_len, vocab_size, max_position_embeddings, hidden_size, num_layers,
            num_heads, window_size)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const int64_t* input_ids, const kb::Weights& weights, real* logits,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
