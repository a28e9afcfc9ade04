// Stacked GRU over a sequence; the result is the hidden states of the top layer at all steps.
// x: [seq_len, batch_size, input_size]; h0: [num_layers, batch_size, hidden_size], the initial
// hidden states; y: [seq_len, batch_size, hidden_size]; all tensors row-major.
//
// A layer starts from its h and computes at every step, for the step's input x_t (of x for layer 0,
// else the h of the layer below at the same step), with a = x_t * transpose(weight_ih) + bias_ih
// and b = h * transpose(weight_hh) + bias_hh, each of three parts r, z, n of hidden_size:
//   r = sigmoid(a_r + b_r); z = sigmoid(a_z + b_z); n = tanh(a_n + r * b_n)
//   h = (1 - z) * n + z * h
// y[t] is the h of the top layer after step t.
//
// Weights, for each layer l: "gru.weight_ih_l<l>" [3 * hidden_size, input_size for layer 0, else
// hidden_size], "gru.weight_hh_l<l>" [3 * hidden_size, hidden_size], "gru.bias_ih_l<l>" and
// "gru.bias_hh_l<l>" [3 * hidden_size].
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 10, seq_len = 512, input_size = 128, hidden_size = 256, num_layers = 6;
  KB_FIELDS(batch_size, seq_len, input_size, hidden_size, num_layers)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* h0, const kb::Weights& weights, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
