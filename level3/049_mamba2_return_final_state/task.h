// A state space layer as in Mamba-2, for all heads of all samples; the result is the state after
// the last step.
// X: [batch_size, seq_length, n_heads, d_head]; S: [batch_size, n_heads, d_head, d_state];
// row-major. With the parameters A [batch_size, seq_length, n_heads] and B [batch_size, seq_length,
// n_heads, d_state], for each sample and head, from S = 0 on:
//   S = exp(A_t) * S + X_t * transpose(B_t)     S: [d_head, d_state]
// Upstream computes this in chunks of block_len steps, which divides seq_length: within a chunk by
// sums of A over all pairs of steps, between chunks by their states. It is the same up to rounding.
// Weights: "A", "B". Upstream also computes products with a parameter "C", which no output shows; a
// kernel need not.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 2048, seq_length = 128, n_heads = 8, d_head = 64, d_state = 16;
  int64_t block_len = 64;
  KB_FIELDS(batch_size, seq_length, n_heads, d_head, d_state, block_len)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* X, const kb::Weights& weights, real* S,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
