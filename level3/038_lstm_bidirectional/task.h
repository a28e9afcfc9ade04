// Bidirectional stacked LSTM over a sequence, then a linear layer on the last step of the
// top layer.
// x: [batch_size, sequence_length, input_size]; h0, c0: [num_layers * 2, batch_size, hidden_size],
// the initial hidden and cell states; out: [batch_size, output_size]; all tensors row-major.
//
// Each layer has two directions: forward from step 0 on, backward from the last step down. States 2
// l and 2 l + 1 are those of layer l, forward and backward. A layer starts from its h and c and
// computes at every step, for the step's input x_t (of x for layer 0, else the h of the layer below
// at the same step, of both directions one after the other):
//   gates = x_t * transpose(weight_ih) + bias_ih + h * transpose(weight_hh) + bias_hh
//   i, f, g, o = the four quarters of gates, hidden_size each, in this order
//   c = sigmoid(f) * c + sigmoid(i) * tanh(g)
//   h = sigmoid(o) * tanh(c)
// out = h * transpose(fc.weight) + fc.bias, for the h of both directions of the top layer at the
// last step (where the backward direction has made one step only).
//
// Weights, for each layer l: "lstm.weight_ih_l<l>" [4 * hidden_size, input_size for layer 0, else
// 2 * hidden_size], "lstm.weight_hh_l<l>" [4 * hidden_size, hidden_size], "lstm.bias_ih_l<l>" and
// "lstm.bias_hh_l<l>" [4 * hidden_size], then the same of the backward direction with
// "_reverse" behind each name; in the end "fc.weight" [output_size, 2 * hidden_size] and
// "fc.bias" [output_size].
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
            const kb::Weights& weights, real* out, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
