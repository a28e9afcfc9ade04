// A dense block of DenseNet in training mode: every batch norm uses the statistics of its batch.
// x: [batch_size, num_input_features, height, width];
// y: [batch_size, num_input_features + num_layers * growth_rate, height, width]; row-major.
// Each of the num_layers layers reads all that is there and adds growth_rate channels behind it:
//   x = concat of x and conv(relu(batch_norm(x))) along the channels;      y = x in the end
// conv: 3x3, padding 1, to growth_rate channels, without bias.
// Batch norm of a channel: (x - mean) / sqrt(var + 1e-5) * weight + bias,
// with mean and var over batch, height and width, var without Bessel's correction.
// Weights of layer i, which reads n = num_input_features + i * growth_rate channels:
// "layers.<i>.0.weight" and "layers.<i>.0.bias" [n] of the batch norm, "layers.<i>.2.weight"
// [growth_rate, n, 3, 3].
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 10, num_layers = 6, num_input_features = 32, growth_rate = 32;
  int64_t height = 224, width = 224;
  KB_FIELDS(batch_size, num_layers, num_input_features, growth_rate, height, width)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
