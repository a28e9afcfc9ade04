// Depthwise 2D convolution (cross-correlation) with a kernel of one column, without bias, one
// filter per channel:
// y[n][c][i][j] = sum over p of weight[c][0][p][0] * x[n][c][h][w]
// with h = i * stride - padding + p * dilation, w = j * stride - padding;
// x counts as 0 outside its bounds.
// x: [batch_size, in_channels, height, width]
// weight: [in_channels, 1, kernel_size, 1]
// y: [batch_size, in_channels, out_height(), out_width()]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 64, in_channels = 8, kernel_size = 3;
  int64_t width = 512, height = 512, stride = 1, padding = 0, dilation = 1;
  KB_FIELDS(batch_size, in_channels, kernel_size, width, height, stride, padding, dilation)
  int64_t out_height() const {
    return (height + 2 * padding - dilation * (kernel_size - 1) - 1) / stride + 1;
  }
  int64_t out_width() const { return (width + 2 * padding - 1) / stride + 1; }
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* weight, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* weight, cudaStream_t stream);
}  // namespace task
