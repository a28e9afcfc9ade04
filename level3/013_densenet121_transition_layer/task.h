// A transition layer of DenseNet in training mode: batch norm uses the statistics of the batch.
// x: [batch_size, num_input_features, height, width];
// y: [batch_size, num_output_features, height / 2, width / 2] (integer division); row-major.
//   y = avg_pool(conv(relu(batch_norm(x))))
// conv: 1x1 to num_output_features, without bias; avg_pool: the means of windows of 2x2 with stride
// 2. Batch norm of a channel: (x - mean) / sqrt(var + 1e-5) * weight + bias, with mean and var over
// batch, height and width, var without Bessel's correction.
// Weights: "transition.0.weight" and "transition.0.bias" [num_input_features] of the batch norm,
// "transition.2.weight" [num_output_features, num_input_features, 1, 1].
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 128, num_input_features = 32, num_output_features = 64;
  int64_t height = 256, width = 256;
  KB_FIELDS(batch_size, num_input_features, num_output_features, height, width)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
