// 2D transposed convolution with stride, padding and dilation, without bias; one group.
// For every o, p, q, x[n][c][i][j] adds weight[c][o][p][q] * x[n][c][i][j] to y[n][o][h][w],
// h = i * stride - padding + p * dilation, w = j * stride - padding + q * dilation;
// what falls outside y is dropped, and elements that nothing reaches are 0.
// x: [batch_size, in_channels, height_in, width_in]
// weight: [in_channels, out_channels, kernel_size, kernel_size]
// y: [batch_size, out_channels, out_height(), out_width()]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 16, in_channels = 32, out_channels = 64, kernel_size = 3;
  int64_t height_in = 64, width_in = 128, stride = 5, padding = 1, dilation = 2;
  KB_FIELDS(batch_size, in_channels, out_channels, kernel_size, height_in, width_in, stride,
            padding, dilation)
  int64_t out_height() const {
    return (height_in - 1) * stride - 2 * padding + dilation * (kernel_size - 1) + 1;
  }
  int64_t out_width() const {
    return (width_in - 1) * stride - 2 * padding + dilation * (kernel_size - 1) + 1;
  }
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* weight, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* weight, cudaStream_t stream);
}  // namespace task
