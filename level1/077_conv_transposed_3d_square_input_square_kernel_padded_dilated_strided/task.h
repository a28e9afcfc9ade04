// 3D transposed convolution with stride, padding and dilation, without bias; one group.
// For every o, p, q, r, x[n][i][a][b][c] adds weight[i][o][p][q][r] * x[n][i][a][b][c] to
// y[n][o][d][h][w],
// d = a * stride - padding + p * dilation, h = b * stride - padding + q * dilation,
// w = c * stride - padding + r * dilation;
// what falls outside y is dropped, and elements that nothing reaches are 0.
// x: [batch_size, in_channels, depth, height, width]
// weight: [in_channels, out_channels, kernel_size, kernel_size, kernel_size]
// y: [batch_size, out_channels, out_depth(), out_height(), out_width()]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 16, in_channels = 32, out_channels = 64, kernel_size = 3;
  int64_t depth = 16, height = 32, width = 32, stride = 2, padding = 1, dilation = 2;
  KB_FIELDS(batch_size, in_channels, out_channels, kernel_size, depth, height, width, stride,
            padding, dilation)
  int64_t out_depth() const {
    return (depth - 1) * stride - 2 * padding + dilation * (kernel_size - 1) + 1;
  }
  int64_t out_height() const {
    return (height - 1) * stride - 2 * padding + dilation * (kernel_size - 1) + 1;
  }
  int64_t out_width() const {
    return (width - 1) * stride - 2 * padding + dilation * (kernel_size - 1) + 1;
  }
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* weight, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* weight, cudaStream_t stream);
}  // namespace task
