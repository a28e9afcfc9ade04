// 2D transposed convolution with a rectangular kernel, stride and padding, without bias; dilation
// 1, one group.
// For every o, p, q, x[n][c][i][j] adds weight[c][o][p][q] * x[n][c][i][j] to y[n][o][h][w],
// h = i * stride[0] - padding[0] + p, w = j * stride[1] - padding[1] + q;
// what falls outside y is dropped, and elements that nothing reaches are 0.
// x: [batch_size, in_channels, height, width]
// weight: [in_channels, out_channels, kernel_size[0], kernel_size[1]]
// y: [batch_size, out_channels, out_height(), out_width()]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 8, in_channels = 32, out_channels = 32;
  std::array<int64_t, 2> kernel_size = {3, 7};  // rows, columns, like stride and padding
  int64_t height = 512, width = 1024;
  std::array<int64_t, 2> stride = {1, 1}, padding = {1, 3};
  KB_FIELDS(batch_size, in_channels, out_channels, kernel_size, height, width, stride, padding)
  int64_t out_height() const { return (height - 1) * stride[0] - 2 * padding[0] + kernel_size[0]; }
  int64_t out_width() const { return (width - 1) * stride[1] - 2 * padding[1] + kernel_size[1]; }
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* weight, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* weight, cudaStream_t stream);
}  // namespace task
