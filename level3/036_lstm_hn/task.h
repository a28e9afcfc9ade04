// Stacked LSTM over a sequence; the result is the last hidden states of all layers.
// x: [batch_size, sequence_length, input_size]; h0, c0: [num_layers, batch_size, hidden_size], the
// initial hidden and cell states; h_n: [num_layers, batch_size, hidden_size]; all tensors
// row-major.
//
// A layer starts from its h and c and computes at every step, for the step's input x_t (of x for
// layer 0, else the h of the layer below at the same step):
//   gates = x_t * transpose(weight_ih) + bias_ih + h * transpose(weight_hh) + bias_hh
//   i, f, g, o = the four quarters of gates, hidden_size each, in this order
//   c = sigmoid(f) * c + sigmoid(i) * tanh(g)
//   h = sigmoid(o) * tanh(c)
// h_n[l] is the last h of layer l.
//
// Weights, for each layer l: "lstm.weight_ih_l<l>" [4 * hidden_size, input_size for layer 0, else
// hidden_size], "lstm.weight_hh_l<l>" [4 * hidden_size, hidden_size], "lstm.bias_ih_l<l>" and
// "lstm.bias_hh_l<l>" [4 * hidden_size]. Upstream also computes a layer fc, which no output shows;
// a kernel need not.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 10, sequence_length = 512, input_size = 128, hidden_size = 256;
  int64_t num_layers = 6, output_size = 10;
  KB_FIELDS(batch_size, sequence_length, input_size, hidden_size, num_layers, output_size)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* h0, const real* c0,
            const kb::Weights& weights, real* h_n, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
