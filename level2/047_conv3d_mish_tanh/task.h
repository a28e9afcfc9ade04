// 3D convolution (cross-correlation) with bias (dilation 1, one group), then Mish and tanh:
// z[n][o][d][h][w] = conv_bias[o] +
//     sum over c, r, p, q of conv_weight[o][c][r][p][q] * x[n][c][e][i][j],
// e = d * stride - padding + r, i = h * stride - padding + p, j = w * stride - padding + q, where x
// counts as 0 outside its bounds; y = tanh(z * tanh(log(1 + exp(z)))).
// x: [batch_size, in_channels, D, H, W]
// conv_weight: [out_channels, in_channels, kernel_size, kernel_size, kernel_size]
// conv_bias: [out_channels]; y: [batch_size, out_channels, convolved(D), convolved(H),
// convolved(W)]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 16, in_channels = 32, out_channels = 64, D = 32, H = 64, W = 64;
  int64_t kernel_size = 3, stride = 1, padding = 0;
  KB_FIELDS(batch_size, in_channels, out_channels, D, H, W, kernel_size, stride, padding)
  int64_t convolved(int64_t extent) const {
    return (extent + 2 * padding - kernel_size) / stride + 1;
  }
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* conv_weight, const real* conv_bias, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* conv_weight, const real* conv_bias,
                         cudaStream_t stream);
}  // namespace task
