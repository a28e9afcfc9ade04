// Depthwise 2D convolution (cross-correlation) with a rectangular kernel, without bias, one
// filter per channel:
// y[n][c][i][j] = sum over p, q of weight[c][0][p][q] * x[n][c][h][w],
// h = i * stride_h - padding_h + p * dilation_h, w = j * stride_w - padding_w + q * dilation_w;
// x counts as 0 outside its bounds.
// x: [batch_size, in_channels, height, width]
// weight: [in_channels, 1, kernel_size_h, kernel_size_w]
// y: [batch_size, in_channels, out_height(), out_width()]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 32, in_channels = 128;
  int64_t out_channels = 128;  // without effect, as upstream: y has in_channels
  int64_t kernel_size_h = 3, kernel_size_w = 7, width = 256, height = 128;
  int64_t stride_h = 1, stride_w = 1, padding_h = 0, padding_w = 0, dilation_h = 1, dilation_w = 1;
  KB_FIELDS(batch_size, in_channels, out_channels, kernel_size_h, kernel_size_w, width, height,
            stride_h, stride_w, padding_h, padding_w, dilation_h, dilation_w)
  int64_t out_height() const {
    return (height + 2 * padding_h - dilation_h * (kernel_size_h - 1) - 1) / stride_h + 1;
  }
  int64_t out_width() const {
    return (width + 2 * padding_w - dilation_w * (kernel_size_w - 1) - 1) / stride_w + 1;
  }
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* weight, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* weight, cudaStream_t stream);
}  // namespace task
