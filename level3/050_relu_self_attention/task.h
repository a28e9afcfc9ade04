// Causal self-attention with relu in place of softmax, without a projection at the end.
// x, y: [batch_size, max_seqlen, n_embd], row-major. For each sample, x is [max_seqlen, n_embd]:
//   q, k, v = the three thirds of x * transpose(c_attn.weight) + c_attn.bias, n_embd each, of which
//             head h has the elements h * d to (h + 1) * d, d = n_embd / n_head
//   att = q * transpose(k) / sqrt(d), with -infinity where the mask is 0; att = max(att, 0)
//   t = att * v, the heads side by side again
//   y = t
// "bias" [1, 1, max_seqlen, max_seqlen] is the causal mask: always ones on and below the diagonal,
// zeros above, so that step i sees steps 0 to i only.
// Weights: "bias", "c_attn.weight" [3 * n_embd, n_embd], "c_attn.bias". Upstream's c_proj is never
// applied.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 16, max_seqlen = 1024, n_embd = 768, n_head = 12;
  KB_FIELDS(batch_size, max_seqlen, n_embd, n_head)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
