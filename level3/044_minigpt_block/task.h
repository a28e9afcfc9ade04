// A transformer block as in minGPT: causal self-attention and a perceptron, each on normalised x.
// x, y: [batch_size, seq_len, n_embd], row-major.
//   x = x + attn(ln_1(x))
//   y = x + mlp.c_proj(gelu(mlp.c_fc(ln_2(x))))
// A linear layer is x * transpose(weight) + bias; mlp.c_fc has 4 * n_embd outputs. gelu(x) = x / 2
// * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))). Layer norm of a row: (x - mean) / sqrt(var +
// 1e-5) * weight + bias, var without Bessel's correction. attn, for each sample:
//   q, k, v = the three thirds of x * transpose(c_attn.weight) + c_attn.bias, n_embd each, of which
//             head h has the elements h * d to (h + 1) * d, d = n_embd / n_head
//   att = q * transpose(k) / sqrt(d), with -infinity where the mask is 0; att = softmax of each row
//   t = att * v, the heads side by side again
//   result = t * transpose(c_proj.weight) + c_proj.bias
// "attn.bias" [1, 1, max_seqlen, max_seqlen] is the causal mask: always ones on and below the
// diagonal, zeros above, so that step i sees steps 0 to i only.
// Weights: "ln_1.weight" [n_embd], "ln_1.bias", "attn.bias", "attn.c_attn.weight" [3 * n_embd,
// n_embd], "attn.c_attn.bias", "attn.c_proj.weight" [n_embd, n_embd], "attn.c_proj.bias",
// "ln_2.weight", "ln_2.bias", "mlp.c_fc.weight" [4 * n_embd, n_embd], "mlp.c_fc.bias",
// "mlp.c_proj.weight" [n_embd, 4 * n_embd], "mlp.c_proj.bias".
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 128, max_seqlen = 1024, seq_len = 512, n_embd = 768, n_head = 8;
  KB_FIELDS(batch_size, max_seqlen, seq_len, n_embd, n_head)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
