// 2D convolution with bias (stride 1, no padding), then tanh and average pooling:
// v = conv_bias[o] + sum over c, p, q of conv_weight[o][c][p][q] * x[n][c][i + p][j + q]
// u = tanh(v - subtract1_value) - subtract2_value
// y = mean of u in each window.
// Windows of kernel_size_pool x kernel_size_pool lie side by side; what fills none is left out.
// x: [batch_size, in_channels, height, width]
// conv_weight: [out_channels, in_channels, kernel_size, kernel_size]; conv_bias: [out_channels]
// y: [batch_size, out_channels, pooled(height), pooled(width)]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 128, in_channels = 64, out_channels = 128;
  int64_t height = 128, width = 128, kernel_size = 3;
  double subtract1_value = 0.5, subtract2_value = 0.2;
  int64_t kernel_size_pool = 2;
  KB_FIELDS(batch_size, in_channels, out_channels, height, width, kernel_size, subtract1_value,
            subtract2_value, kernel_size_pool)
  int64_t pooled(int64_t length) const { return (length - kernel_size + 1) / kernel_size_pool; }
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* conv_weight, const real* conv_bias, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* conv_weight, const real* conv_bias,
                         cudaStream_t stream);
}  // namespace task
