// 2D transposed convolution with a rectangular kernel, stride, padding, dilation and groups,
// without bias.
// With m = out_channels / groups, for every p, q and every o of c's group, x[n][c][i][j] adds
// weight[c][o % m][p][q] * x[n][c][i][j] to y[n][o][h][w],
// h = i * stride[0] - padding[0] + p * dilation[0],
// w = j * stride[1] - padding[1] + q * dilation[1];
// what falls outside y is dropped, and elements that nothing reaches are 0.
// x: [batch_size, in_channels, height, width]
// weight: [in_channels, out_channels / groups, kernel_size[0], kernel_size[1]]
// y: [batch_size, out_channels, out_height(), out_width()]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 16, in_channels = 32, out_channels = 64;
  std::array<int64_t, 2> kernel_size = {3, 5};  // rows, columns, like the parameters below
  int64_t height = 128, width = 256;
  std::array<int64_t, 2> stride = {2, 3}, padding = {1, 2}, dilation = {2, 1};
  int64_t groups = 4;  // divides in_channels and out_channels
  KB_FIELDS(batch_size, in_channels, out_channels, kernel_size, height, width, stride, padding,
            dilation, groups)
  int64_t out_height() const {
    return (height - 1) * stride[0] - 2 * padding[0] + dilation[0] * (kernel_size[0] - 1) + 1;
  }
  int64_t out_width() const {
    return (width - 1) * stride[1] - 2 * padding[1] + dilation[1] * (kernel_size[1] - 1) + 1;
  }
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* weight, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* weight, cudaStream_t stream);
}  // namespace task
