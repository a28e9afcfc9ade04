// Depthwise 2D convolution (cross-correlation) with stride and padding, without bias; dilation 1,
// in_channels groups, m = out_channels / in_channels filters per channel (upstream: 1):
// y[n][o][i][j] = sum over p, q of weight[o][0][p][q] * x[n][o / m][h][w]
// with h = i * stride - padding + p, w = j * stride - padding + q;
// x counts as 0 outside its bounds.
// x: [batch_size, in_channels, height_in, width_in]
// weight: [out_channels, 1, kernel_size, kernel_size]
// y: [batch_size, out_channels, out_height(), out_width()]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 64, in_channels = 128;
  int64_t out_channels = 128;  // a multiple of in_channels
  int64_t kernel_size = 3, width_in = 512, height_in = 256, stride = 1, padding = 0;
  KB_FIELDS(batch_size, in_channels, out_channels, kernel_size, width_in, height_in, stride,
            padding)
  int64_t out_height() const { return (height_in + 2 * padding - kernel_size) / stride + 1; }
  int64_t out_width() const { return (width_in + 2 * padding - kernel_size) / stride + 1; }
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* weight, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* weight, cudaStream_t stream);
}  // namespace task
