// 3D convolution (cross-correlation) with bias (stride 1, no padding), then the minimum over the
// depth, then softmax over the channels. With k = kernel_size:
// z[n][o][d][h][w] = conv_bias[o] +
//     sum over c, r, p, q of conv_weight[o][c][r][p][q] * x[n][c][d + r][h + p][w + q];
// y[n][o][h][w] = softmax over o of (min over d of z[n][o][d][h][w]).
// x: [batch_size, in_channels, D, H, W]
// conv_weight: [out_channels, in_channels, k, k, k]; conv_bias: [out_channels]
// y: [batch_size, out_channels, H - k + 1, W - k + 1]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 128, in_channels = 3, out_channels = 24, D = 24, H = 32, W = 32;
  int64_t kernel_size = 3;
  KB_FIELDS(batch_size, in_channels, out_channels, D, H, W, kernel_size)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* conv_weight, const real* conv_bias, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* conv_weight, const real* conv_bias,
                         cudaStream_t stream);
}  // namespace task
