// A recurrent network over a sequence, with an output at each step.
// x: [sequence_length, batch_size, input_size]; h0: [batch_size, hidden_size], the initial hidden
// state; y: [sequence_length, batch_size, output_size]; all tensors row-major. For each step t:
//   h = tanh(concat of x[t] and h along the features * transpose(i2h.weight) + i2h.bias)
//   y[t] = h * transpose(h2o.weight) + h2o.bias
// Weights: "i2h.weight" [hidden_size, input_size + hidden_size], "i2h.bias" [hidden_size],
// "h2o.weight" [output_size, hidden_size], "h2o.bias" [output_size].
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 8, input_size = 1024, hidden_size = 256, output_size = 128;
  int64_t sequence_length = 256;
  KB_FIELDS(batch_size, input_size, hidden_size, output_size, sequence_length)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* h0, const kb::Weights& weights, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
