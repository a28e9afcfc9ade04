// DenseNet-121 without bottlenecks, in training mode: batch norms use the statistics of the batch.
// x: [batch_size, 3, height, width]; y: [batch_size, num_classes]; all tensors row-major.
// With C = 64 / width_div channels and growth = growth_rate / width_div (integer division):
//   x = max_pool(relu(features.1(features.0(x))))   features.0: 7x7, stride 2, padding 3, to C;
//                                     features.1: a batch norm; max_pool: 3x3, stride 2, padding 1
//   x = dense block i of x            for i = 0 to 3, of block_layers[i] layers, and between them
//   x = transition layer i of x
//   y = classifier(mean of relu(final_bn(x)) over height and width)
// A layer of a dense block reads all channels that are there and adds `growth` behind them:
//   x = concat of x and conv(relu(batch_norm(x)))   conv: 3x3, padding 1, to growth channels
// A transition layer: x = avg_pool(conv(relu(batch_norm(x)))), conv: 1x1 to half of the channels
// (integer division), avg_pool: the means of windows of 2x2 with stride 2.
// classifier(x) = x * transpose(weight) + bias; convolutions have no bias. Batch norm of a channel:
// (x - mean) / sqrt(var + 1e-5) * weight + bias, with mean and var over batch, height and
// width, var without Bessel's correction.
// Weights: "features.0.weight", "features.1.weight", "features.1.bias"; for layer j of block i
// "dense_blocks.<i>.layers.<j>.0.weight" and ".0.bias" of the batch norm, ".2.weight" of the
// convolution; for each transition layer "transition_layers.<i>.transition.0.weight", ".0.bias" and
// ".2.weight"; "final_bn.weight", "final_bn.bias", "classifier.weight", "classifier.bias".
// kb::Weights has all dense blocks first, then the transition layers.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 10, num_classes = 10, height = 224, width = 224, growth_rate = 32;
  std::array<int64_t, 4> block_layers = {6, 12, 24, 16};
  int64_t width_div = 1;  // divides the first channels and growth_rate
  KB_FIELDS(batch_size, num_classes, height, width, growth_rate, block_layers, width_div)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
