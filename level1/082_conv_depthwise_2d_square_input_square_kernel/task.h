// Depthwise 2D convolution (cross-correlation) with stride and padding, without bias; dilation 1,
// one filter per channel:
// y[n][c][i][j] = sum over p, q of weight[c][0][p][q] * x[n][c][h][w]
// with h = i * stride - padding + p, w = j * stride - padding + q;
// x counts as 0 outside its bounds.
// x: [batch_size, in_channels, height, width]
// weight: [in_channels, 1, kernel_size, kernel_size]
// y: [batch_size, in_channels, out_height(), out_width()]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 16, in_channels = 64, kernel_size = 3;
  int64_t width = 512, height = 512, stride = 1, padding = 0;
  KB_FIELDS(batch_size, in_channels, kernel_size, width, height, stride, padding)
  int64_t out_height() const { return (height + 2 * padding - kernel_size) / stride + 1; }
  int64_t out_width() const { return (width + 2 * padding - kernel_size) / stride + 1; }
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* weight, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* weight, cudaStream_t stream);
}  // namespace task
