// 2D convolution with bias (stride 1, no padding), average pooling, sigmoid, sum of each sample:
// v = conv_bias[o] + sum over c, p, q of conv_weight[o][c][p][q] * x[n][c][i + p][j + q]
// y[n] = sum over all channels and windows of sigmoid(mean of v in the window).
// Windows of pool_kernel_size x pool_kernel_size lie side by side; what fills none is left out.
// x: [batch_size, in_channels, height, width]
// conv_weight: [out_channels, in_channels, kernel_size, kernel_size]; conv_bias: [out_channels]
// y: [batch_size]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 128, in_channels = 8, out_channels = 64;
  int64_t height = 384, width = 384, kernel_size = 3;
  int64_t pool_kernel_size = 4;
  KB_FIELDS(batch_size, in_channels, out_channels, height, width, kernel_size, pool_kernel_size)
  int64_t pooled(int64_t length) const { return (length - kernel_size + 1) / pool_kernel_size; }
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* conv_weight, const real* conv_bias, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* conv_weight, const real* conv_bias,
                         cudaStream_t stream);
}  // namespace task
