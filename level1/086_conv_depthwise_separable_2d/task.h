// Depthwise separable 2D convolution, without bias: a depthwise convolution (cross-correlation)
// with one filter per channel, then a pointwise one:
// z[n][c][i][j] = sum over p, q of depthwise[c][0][p][q] * x[n][c][h][w],
// h = i * stride - padding + p * dilation, w = j * stride - padding + q * dilation,
// where x counts as 0 outside its bounds;
// y[n][o][i][j] = sum over c of pointwise[o][c][0][0] * z[n][c][i][j].
// x: [batch_size, in_channels, height, width]
// depthwise: [in_channels, 1, kernel_size, kernel_size]
// pointwise: [out_channels, in_channels, 1, 1]
// y: [batch_size, out_channels, out_height(), out_width()]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 16, in_channels = 64, out_channels = 128, kernel_size = 3;
  int64_t width = 512, height = 512, stride = 1, padding = 1, dilation = 1;
  KB_FIELDS(batch_size, in_channels, out_channels, kernel_size, width, height, stride, padding,
            dilation)
  int64_t out_height() const {
    return (height + 2 * padding - dilation * (kernel_size - 1) - 1) / stride + 1;
  }
  int64_t out_width() const {
    return (width + 2 * padding - dilation * (kernel_size - 1) - 1) / stride + 1;
  }
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* depthwise, const real* pointwise, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* depthwise, const real* pointwise,
                         cudaStream_t stream);
}  // namespace task
