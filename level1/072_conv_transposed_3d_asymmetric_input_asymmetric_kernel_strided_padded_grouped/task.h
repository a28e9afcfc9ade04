// 3D transposed convolution with a box-shaped kernel, stride, padding, output padding and groups,
// without bias; dilation 1.
// With m = out_channels / groups, for every p, q, r and every o of i's group, x[n][i][a][b][c]
// adds weight[i][o % m][p][q][r] * x[n][i][a][b][c] to y[n][o][d][h][w],
// d = a * stride[0] - padding[0] + p, h = b * stride[1] - padding[1] + q,
// w = c * stride[2] - padding[2] + r;
// what falls outside y is dropped, and elements that nothing reaches are 0.
// x: [batch_size, in_channels, depth, height, width]
// weight: [in_channels, out_channels / groups, kernel_size[0], kernel_size[1], kernel_size[2]]
// y: [batch_size, out_channels, out_depth(), out_height(), out_width()]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 8, in_channels = 32, out_channels = 32;
  std::array<int64_t, 3> kernel_size = {3, 5, 7};  // depth, height, width, like those below
  int64_t depth = 12, height = 24, width = 48;
  std::array<int64_t, 3> stride = {2, 2, 2}, padding = {1, 2, 3}, output_padding = {1, 1, 1};
  int64_t groups = 4;  // divides in_channels and out_channels
  KB_FIELDS(batch_size, in_channels, out_channels, kernel_size, depth, height, width, stride,
            padding, output_padding, groups)
  int64_t out_depth() const {
    return (depth - 1) * stride[0] - 2 * padding[0] + kernel_size[0] + output_padding[0];
  }
  int64_t out_height() const {
    return (height - 1) * stride[1] - 2 * padding[1] + kernel_size[1] + output_padding[1];
  }
  int64_t out_width() const {
    return (width - 1) * stride[2] - 2 * padding[2] + kernel_size[2] + output_padding[2];
  }
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* weight, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* weight, cudaStream_t stream);
}  // namespace task
