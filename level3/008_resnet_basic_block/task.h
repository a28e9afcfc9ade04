// A basic block of ResNet in training mode: every batch norm uses the statistics of its batch.
// x: [batch_size, in_channels, height, width];
// y: [batch_size, out_channels, ceil(height / stride), ceil(width / stride)]; all tensors
// row-major.
//   out = relu(bn1(conv1(x)))           conv1: 3x3, this stride, padding 1, to out_channels
//   out = bn2(conv2(out))               conv2: 3x3, stride 1, padding 1
//   y = relu(out + downsample.1(downsample.0(x)))
// downsample.0: 1x1, this stride, to out_channels; downsample.1: a batch norm. Convolutions have no
// bias. Batch norm of a channel: (x - mean) / sqrt(var + 1e-5) * weight + bias, with mean and var
// over batch, height and width, var without Bessel's correction.
// Weights: "conv1.weight" [out_channels, in_channels, 3, 3], "bn1.weight", "bn1.bias",
// "conv2.weight", "bn2.weight", "bn2.bias", "downsample.0.weight" [out_channels, in_channels, 1,
// 1], "downsample.1.weight", "downsample.1.bias"; those of a batch norm are [out_channels].
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t in_channels = 3, out_channels = 64, stride = 1, batch_size = 10;
  int64_t height = 224, width = 224;
  KB_FIELDS(in_channels, out_channels, stride, batch_size, height, width)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
