// One step of a recurrent network.
// x: [batch_size, input_size]; hidden: [batch_size, hidden_size]; output: [batch_size,
// output_size]; all tensors row-major.
//   h = tanh(concat of x and hidden along the features * transpose(i2h.weight) + i2h.bias)
//   output = h * transpose(h2o.weight) + h2o.bias
// Upstream also keeps h for the next call; the next call's input replaces it.
// Weights: "i2h.weight" [hidden_size, input_size + hidden_size], "i2h.bias" [hidden_size],
// "h2o.weight" [output_size, hidden_size], "h2o.bias" [output_size].
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 256, input_size = 16384, hidden_size = 16384, output_size = 8192;
  KB_FIELDS(batch_size, input_size, hidden_size, output_size)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* hidden, const kb::Weights& weights,
            real* output, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
