// 3D convolution (cross-correlation) with bias (dilation 1, one group), then max pooling over
// windows of 2 x 2 x 2 that do not overlap (what does not fill a window is left out), the logarithm
// of the sum of exponentials over the channels, and ReLU:
// z[n][o][d][h][w] = conv_bias[o] +
//     sum over c, r, p, q of conv_weight[o][c][r][p][q] * x[n][c][e][i][j],
// e = d * stride - padding + r, i = h * stride - padding + p, j = w * stride - padding + q, where x
// counts as 0 outside its bounds;
// y[n][0] = max(0, log(sum over o of exp(maxpool(z)[n][o]))).
// x: [batch_size, in_channels, depth, height, width]
// conv_weight: [out_channels, in_channels, kernel_size, kernel_size, kernel_size]
// conv_bias: [out_channels]
// y: [batch_size, 1, convolved(depth) / 2, convolved(height) / 2, convolved(width) / 2]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 4, in_channels = 32, out_channels = 64, depth = 32, height = 128;
  int64_t width = 128, kernel_size = 3, stride = 1, padding = 1;
  KB_FIELDS(batch_size, in_channels, out_channels, depth, height, width, kernel_size, stride,
            padding)
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
