// A perceptron with sixteen hidden layers.
// x: [batch_size, input_size]; y: [batch_size, output_size]; both row-major.
// The 16 hidden layers have hidden_layer_sizes[0], hidden_layer_sizes[1], ... outputs:
//   x = relu(x * transpose(weight) + bias)
// and the last layer is the same without relu.
// Weights: "network.0.weight" [hidden_layer_sizes[0], input_size], "network.0.bias"
// [hidden_layer_sizes[0]], "network.2.weight", "network.2.bias", ...: hidden layer i is number 2 i,
// the last layer is "network.32.weight" [output_size, hidden_layer_sizes[15]], "network.32.bias"
// [output_size].
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 1024, input_size = 8192;
  std::array<int64_t, 16> hidden_layer_sizes = {1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024,
                                                1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024};
  int64_t output_size = 8192;
  KB_FIELDS(batch_size, input_size, hidden_layer_sizes, output_size)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
