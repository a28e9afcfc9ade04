// 2D convolution with bias (stride 1, no padding), then tanh, a factor, a second bias, max pooling:
// v = conv_bias[o] + sum over c, p, q of conv_weight[o][c][p][q] * x[n][c][i + p][j + q]
// u = tanh(v) * scaling_factor + bias[o]
// y = maximum of u in each window.
// Windows of pool_kernel_size x pool_kernel_size lie side by side; what fills none is left out.
// x: [batch_size, in_channels, height, width]
// bias: [out_channels, 1, 1]
// conv_weight: [out_channels, in_channels, kernel_size, kernel_size]; conv_bias: [out_channels]
// y: [batch_size, out_channels, pooled(height), pooled(width)]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 128, in_channels = 8, out_channels = 64;
  int64_t height = 256, width = 256, kernel_size = 3;
  double scaling_factor = 2;
  int64_t pool_kernel_size = 4;
  KB_FIELDS(batch_size, in_channels, out_channels, height, width, kernel_size, scaling_factor,
            pool_kernel_size)
  int64_t pooled(int64_t length) const { return (length - kernel_size + 1) / pool_kernel_size; }
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* bias, const real* conv_weight,
            const real* conv_bias, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* bias, const real* conv_weight,
                         const real* conv_bias, cudaStream_t stream);
}  // namespace task
