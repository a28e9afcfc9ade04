// 2D convolution with bias (stride 1, no padding), then a division and LeakyReLU:
// v = conv_bias[o] + sum over c, p, q of conv_weight[o][c][p][q] * x[n][c][i + p][j + q]
// u = v / divisor
// y = u < 0 ? 0.01 * u : u.
// x: [batch_size, in_channels, height, width]
// conv_weight: [out_channels, in_channels, kernel_size, kernel_size]; conv_bias: [out_channels]
// y: [batch_size, out_channels, height - kernel_size + 1, width - kernel_size + 1]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 128, in_channels = 8, out_channels = 64;
  int64_t height = 128, width = 128, kernel_size = 3;
  double divisor = 2;
  KB_FIELDS(batch_size, in_channels, out_channels, height, width, kernel_size, divisor)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* conv_weight, const real* conv_bias, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* conv_weight, const real* conv_bias,
                         cudaStream_t stream);
}  // namespace task
