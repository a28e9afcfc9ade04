// 2D transposed convolution with bias (no padding, dilation 1, one group), then, element by
// element, a number added, the minimum with 0, GELU (exact, by erf) and a factor:
// z[n][o][i][j] = conv_bias[o] + sum over c, p, q, h, w with h * stride + p = i and
//                 w * stride + q = j of conv_weight[c][o][p][q] * x[n][c][h][w];
// y = gelu(min(z + add_value, 0)) * multiply_value.
// x: [batch_size, in_channels, height, width]
// conv_weight: [in_channels, out_channels, kernel_size, kernel_size]; conv_bias: [out_channels]
// y: [batch_size, out_channels, out_height(), out_width()]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 128, in_channels = 64, out_channels = 128, height = 64, width = 64;
  int64_t kernel_size = 4, stride = 2;
  double add_value = 0.5, multiply_value = 2;
  KB_FIELDS(batch_size, in_channels, out_channels, height, width, kernel_size, stride, add_value,
            multiply_value)
  int64_t out_height() const { return (height - 1) * stride + kernel_size; }
  int64_t out_width() const { return (width - 1) * stride + kernel_size; }
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* conv_weight, const real* conv_bias, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* conv_weight, const real* conv_bias,
                         cudaStream_t stream);
}  // namespace task
