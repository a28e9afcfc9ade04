// 2D convolution with bias (stride 1, no padding), then HardSwish, max pooling and Mish:
// v = conv_bias[o] + sum over c, p, q of conv_weight[o][c][p][q] * x[n][c][i + p][j + q]
// u = hardswish(v - subtract_value), where hardswish(v) = v * min(max(v + 3, 0), 6) / 6
// y = mish(maximum of u in each window), where mish(v) = v * tanh(log(1 + exp(v))).
// Windows of pool_kernel_size x pool_kernel_size lie side by side; what fills none is left out.
// x: [batch_size, in_channels, height, width]
// conv_weight: [out_channels, in_channels, kernel_size, kernel_size]; conv_bias: [out_channels]
// y: [batch_size, out_channels, pooled(height), pooled(width)]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 128, in_channels = 64, out_channels = 128;
  int64_t height = 128, width = 128, kernel_size = 3;
  double subtract_value = 0.5;
  int64_t pool_kernel_size = 2;
  KB_FIELDS(batch_size, in_channels, out_channels, height, width, kernel_size, subtract_value,
            pool_kernel_size)
  int64_t pooled(int64_t length) const { return (length - kernel_size + 1) / pool_kernel_size; }
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* conv_weight, const real* conv_bias, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* conv_weight, const real* conv_bias,
                         cudaStream_t stream);
}  // namespace task
