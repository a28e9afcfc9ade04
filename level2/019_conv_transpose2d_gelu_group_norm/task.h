// 2D transposed convolution with bias (no padding, dilation 1, one group), then GELU (exact, by
// erf) and group normalisation:
// z[n][o][i][j] = conv_bias[o] + sum over c, p, q, h, w with h * stride + p = i and
//                 w * stride + q = j of conv_weight[c][o][p][q] * x[n][c][h][w];
// y = (gelu(z) - mean) / sqrt(var + 1e-5) * norm_weight[o] + norm_bias[o], where mean and var
// (without Bessel's correction) are those of gelu(z) in the sample over each of num_groups groups
// of neighbouring channels.
// x: [batch_size, in_channels, height, width]
// conv_weight: [in_channels, out_channels, kernel_size, kernel_size]; conv_bias: [out_channels]
// norm_weight, norm_bias: [out_channels]; y: [batch_size, out_channels, out_height(), out_width()]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 128, in_channels = 64, out_channels = 64, height = 256, width = 256;
  int64_t kernel_size = 3, stride = 1, num_groups = 8;
  KB_FIELDS(batch_size, in_channels, out_channels, height, width, kernel_size, stride, num_groups)
  int64_t out_height() const { return (height - 1) * stride + kernel_size; }
  int64_t out_width() const { return (width - 1) * stride + kernel_size; }
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* conv_weight, const real* conv_bias,
            const real* norm_weight, const real* norm_bias, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* conv_weight, const real* conv_bias,
                         const real* norm_weight, const real* norm_bias, cudaStream_t stream);
}  // namespace task
