// An MBConv block of EfficientNet in training mode: batch norms use the statistics of the batch.
// x: [batch_size, in_channels, height, width]; y: [batch_size, out_channels, (height - 1) / stride
// + 1, (width - 1) / stride + 1]; all tensors row-major. With hidden = in_channels * expand_ratio
// channels:
//   x = relu6(batch_norm(conv(x)))      expand_conv: 1x1 to hidden; not there if expand_ratio is 1
//   x = relu6(batch_norm(conv(x)))      depthwise_conv: kernel_size, this stride, padding
//                                       (kernel_size - 1) / 2, each channel by itself
//   y = batch_norm(conv(x))             project_conv: 1x1 to out_channels
//   y = y + the block's x               only if stride is 1 and in_channels is out_channels
// kernel_size is odd. relu6(x) = min(max(x, 0), 6); convolutions have no bias.
// Batch norm of a channel: (x - mean) / sqrt(var + 1e-5) * weight + bias, with mean and var over
// batch, height and width, var without Bessel's correction.
// Weights of each of "expand_conv", "depthwise_conv" and "project_conv": "<name>.0.weight"
// [out_channels, in_channels / groups, kernel, kernel] of the convolution, "<name>.1.weight" and
// "<name>.1.bias" of the batch norm.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t in_channels = 112, out_channels = 192, kernel_size = 5, stride = 2, expand_ratio = 6;
  int64_t batch_size = 10, height = 224, width = 224;
  KB_FIELDS(in_channels, out_channels, kernel_size, stride, expand_ratio, batch_size, height, width)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const kb::Weights& weights, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const kb::Weights& weights, cudaStream_t stream);
}  // namespace task
