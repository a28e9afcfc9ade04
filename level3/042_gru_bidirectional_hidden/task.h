// Bidirectional stacked GRU over a sequence; the result is the last hidden states of all layers.
// x: [seq_len, batch_size, input_size]; h0: [2 * num_layers, batch_size, hidden_size], the initial
// hidden states; h_n: [2 * num_layers, batch_size, hidden_size]; all tensors row-major.
//
// Each layer has two directions: forward from step 0 on, backward from the last step down. States 2
// l and 2 l + 1 are those of layer l, forward and backward. A layer starts from its h and computes
// at every step, for the step's input x_t (of x for layer 0, else the h of the layer below at the
// same step, of both directions one after the other), with a = x_t * transpose(weight_ih) + bias_ih
// and b = h * transpose(weight_hh) + bias_hh, each of three parts r, z, n of hidden_size:
//   r = sigmoid(a_r + b_r); z = sigmoid(a_z + b_z); n = tanh(a_n + r * b_n)
//   h = (1 - z) * n + z * h
// h_n holds the last h of each layer and direction.
//
// Weights, for each layer l: "gru.weight_ih_l<l>" [3 * hidden_size, input_size for layer 0, else
// 2 * hidden_size], "gru.weight_hh_l<l>" [3 * hidden_size, hidden_size], "gru.bias_ih_l<l>" and
// "gru.bias_hh_l<l>" [3 * hidden_size], then the same of the backward direction with "_reverse"
// behind each name.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 10, seq_len = 512, input_size = 128, hidden_size = 256, num_layers = 6;
  KB_FIELDS(batch_size, seq_len, input_size, hidden_size, num_layers)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* h0, const kb::Weights& weights, real* h_n,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
