// 2D transposed convolution with bias (dilation 1, one group), then max pooling (no padding; what
// does not fill a window is left out), a clamp, the mean over height and width, and tanh:
// z[n][o][i][j] = conv_bias[o] + sum over c, p, q, h, w with h * stride - padding + p = i and
//                 w * stride - padding + q = j of conv_weight[c][o][p][q] * x[n][c][h][w];
// y[n][o] = tanh(mean(clamp(maxpool(z[n][o]), hardtanh_min, hardtanh_max))).
// x: [batch_size, in_channels, height, width]
// conv_weight: [in_channels, out_channels, kernel_size, kernel_size]; conv_bias: [out_channels]
// y: [batch_size, out_channels, 1, 1]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 128, in_channels = 64, out_channels = 64, height = 256, width = 256;
  int64_t kernel_size = 3, stride = 1, padding = 1, maxpool_kernel_size = 2, maxpool_stride = 2;
  double hardtanh_min = -1, hardtanh_max = 1;
  KB_FIELDS(batch_size, in_channels, out_channels, height, width, kernel_size, stride, padding,
            maxpool_kernel_size, maxpool_stride, hardtanh_min, hardtanh_max)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* conv_weight, const real* conv_bias, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* conv_weight, const real* conv_bias,
                         cudaStream_t stream);
}  // namespace task
