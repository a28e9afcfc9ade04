// 2D convolution (cross-correlation) with bias, the first layer of AlexNet; dilation 1, one
// group:
// y[n][o][i][j] = bias[o] + sum over c, p, q of weight[o][c][p][q] * x[n][c][h][w]
// with h = i * stride - padding + p, w = j * stride - padding + q;
// x counts as 0 outside its bounds.
// x: [batch_size, in_channels, height, width]
// weight: [out_channels, in_channels, kernel_size, kernel_size]; bias: [out_channels]
// y: [batch_size, out_channels, out_height(), out_width()]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 256, in_channels = 3, out_channels = 96;
  int64_t kernel_size = 11, stride = 4, padding = 2, height = 224, width = 224;
  KB_FIELDS(batch_size, in_channels, out_channels, kernel_size, stride, padding, height, width)
  int64_t out_height() const { return (height + 2 * padding - kernel_size) / stride + 1; }
  int64_t out_width() const { return (width + 2 * padding - kernel_size) / stride + 1; }
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* weight, const real* bias, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* weight, const real* bias, cudaStream_t stream);
}  // namespace task
