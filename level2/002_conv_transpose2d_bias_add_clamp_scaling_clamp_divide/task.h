// 2D transposed convolution with its own bias (dilation 1, one group), then, element by element, a
// second bias, a clamp, a scaling, a second clamp and the scaling undone:
// z[n][o][i][j] = conv_bias[o] + sum over c, p, q, h, w with h * stride - padding + p = i and
//                 w * stride - padding + q = j of conv_weight[c][o][p][q] * x[n][c][h][w];
// y = clamp(clamp(z + bias[o], 0, 1) * scaling_factor, 0, 1) / scaling_factor.
// x: [batch_size, in_channels, height, width]; bias: [out_channels, 1, 1]
// conv_weight: [in_channels, out_channels, kernel_size, kernel_size]; conv_bias: [out_channels]
// y: [batch_size, out_channels, out_height(), out_width()]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 128, in_channels = 64, out_channels = 64, height = 128, width = 128;
  int64_t kernel_size = 3, stride = 2, padding = 1, output_padding = 1;
  double scaling_factor = 2;
  KB_FIELDS(batch_size, in_channels, out_channels, height, width, kernel_size, stride, padding,
            output_padding, scaling_factor)
  int64_t out_height() const {
    return (height - 1) * stride - 2 * padding + kernel_size + output_padding;
  }
  int64_t out_width() const {
    return (width - 1) * stride - 2 * padding + kernel_size + output_padding;
  }
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* bias, const real* conv_weight,
            const real* conv_bias, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* bias, const real* conv_weight,
                         const real* conv_bias, cudaStream_t stream);
}  // namespace task
