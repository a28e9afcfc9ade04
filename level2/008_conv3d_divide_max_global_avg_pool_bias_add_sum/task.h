// 3D convolution (cross-correlation) with its own bias (stride 1, no padding), divided by a number,
// then max pooling over windows of pool_size that do not overlap (what does not fill a window is
// left out), the mean over all windows, a second bias, and the sum over the channels:
// z[n][o][d][h][w] = conv_bias[o] +
//     sum over c, r, p, q of conv_weight[o][c][r][p][q] * x[n][c][d + r][h + p][w + q];
// y[n] = sum over o of (bias[o] + mean(maxpool(z[n][o] / divisor))).
// x: [batch_size, in_channels, depth, height, width]; bias: [out_channels, 1, 1, 1]
// conv_weight: [out_channels, in_channels, kernel_size[0], kernel_size[1], kernel_size[2]]
// conv_bias: [out_channels]; y: [batch_size, 1, 1, 1]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 128, in_channels = 8, out_channels = 16, depth = 16, height = 64;
  int64_t width = 64;
  std::array<int64_t, 3> kernel_size = {3, 3, 3};
  double divisor = 2;
  std::array<int64_t, 3> pool_size = {2, 2, 2};
  KB_FIELDS(batch_size, in_channels, out_channels, depth, height, width, kernel_size, divisor,
            pool_size)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* bias, const real* conv_weight,
            const real* conv_bias, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* bias, const real* conv_weight,
                         const real* conv_bias, cudaStream_t stream);
}  // namespace task
