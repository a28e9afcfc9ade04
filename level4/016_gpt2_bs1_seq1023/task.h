// GPT-2 (Hugging Face's GPT2LMHeadModel): logits of the next token after each token.
// input_ids: [batch_size, seq_len]; logits: [batch_size, seq_len, vocab_size], row-major.
//   x = transformer.wte[input_ids] + transformer.wpe[position], positions count from 0
//   for each layer, transformer.h.i:
//     x = x + attn.c_proj(attention(attn.c_attn(ln_1(x))))
//     x = x + mlp.c_proj(gelu(mlp.c_fc(ln_2(x))))
//   logits = transformer.ln_f(x) * transpose(transformer.wte)
// A linear layer here is x * weight + bias, weight [in, out]. attn.c_attn gives q, k and v side by
// side, n_embd each; head h has their elements h * d to (h + 1) * d, d = n_embd / n_head. Attention
// of a head: softmax(q * transpose(k) / sqrt(d)) * v, where a token sees itself and earlier ones;
// the heads side by side again. gelu(x) = x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))).
// Layer norm of a row: (x - mean) / sqrt(var + 1e-5) * weight + bias, var without Bessel's
// correction.
// Weights: "transformer.wte.weight" [vocab_size, n_embd], "transformer.wpe.weight" [n_positions,
// n_embd]; for each layer under "transformer.h.i.": "ln_1.weight", "ln_1.bias" [n_embd],
// "attn.c_attn.weight" [n_embd, 3 * n_embd], "attn.c_attn.bias", "attn.c_proj.weight" [n_embd,
// n_embd], "attn.c_proj.bias", "ln_2.weight", "ln_2.bias", "mlp.c_fc.weight" [n_embd, 4 * n_embd],
// "mlp.c_fc.bias", "mlp.c_proj.weight" [4 * n_embd, n_embd], "mlp.c_proj.bias";
// "transformer.ln_f.weight", "transformer.ln_f.bias". No more than the ids 0 to vocab_size - 1
// occur.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 1, seq_len = 1023, vocab_size = 50257, n_positions = 1024, n_embd = 768,
          n_layer = 12, n_head = 12;
  KB_FIELDS(batch_size, seq_len, vocab_size, n_positions, n_embd, n_layer, n_head)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const int64_t* input_ids, const kb::Weights& weights, real* logits,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
