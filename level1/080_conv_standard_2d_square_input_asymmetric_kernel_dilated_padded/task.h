// 2D convolution (cross-correlation) with a rectangular kernel, padding and dilation, without
// bias; one group:
// y[n][o][i][j] = sum over c, p, q of weight[o][c][p][q] * x[n][c][h][w]
// with h = i * stride - padding[0] + p * dilation[0],
// w = j * stride - padding[1] + q * dilation[1];
// x counts as 0 outside its bounds.
// x: [batch_size, in_channels, height, width]
// weight: [out_channels, in_channels, kernel_size[0], kernel_size[1]]
// y: [batch_size, out_channels, out_height(), out_width()]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 8, in_channels = 32, out_channels = 64;
  std::array<int64_t, 2> kernel_size = {5, 9};  // rows, columns, like padding and dilation
  int64_t width = 512, height = 512, stride = 1;
  std::array<int64_t, 2> padding = {2, 4}, dilation = {2, 3};
  KB_FIELDS(batch_size, in_channels, out_channels, kernel_size, width, height, stride, padding,
            dilation)
  int64_t out_height() const {
    return (height + 2 * padding[0] - dilation[0] * (kernel_size[0] - 1) - 1) / stride + 1;
  }
  int64_t out_width() const {
    return (width + 2 * padding[1] - dilation[1] * (kernel_size[1] - 1) - 1) / stride + 1;
  }
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* weight, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* weight, cudaStream_t stream);
}  // namespace task
