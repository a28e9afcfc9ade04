// 3D convolution (cross-correlation) with bias (stride 1, no padding), then a factor for each
// channel, instance normalisation, a clamp, the same factor again, and the maximum over the
// channels. With k = kernel_size:
// z[n][o][d][h][w] = conv_bias[o] +
//     sum over c, r, p, q of conv_weight[o][c][r][p][q] * x[n][c][d + r][h + p][w + q];
// t = z * multiplier[o]; u = (t - mean) / sqrt(var + 1e-5), where mean and var (without Bessel's
// correction) are those of t in each channel of each sample;
// y[n] = max over o of clamp(u[n][o], clamp_min, clamp_max) * multiplier[o].
// x: [batch_size, in_channels, depth, height, width]; multiplier: [out_channels, 1, 1, 1]
// conv_weight: [out_channels, in_channels, k, k, k]; conv_bias: [out_channels]
// y: [batch_size, depth - k + 1, height - k + 1, width - k + 1]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 128, in_channels = 3, out_channels = 16, depth = 16, height = 32;
  int64_t width = 32, kernel_size = 3;
  double clamp_min = -1, clamp_max = 1;
  KB_FIELDS(batch_size, in_channels, out_channels, depth, height, width, kernel_size, clamp_min,
            clamp_max)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* multiplier, const real* conv_weight,
            const real* conv_bias, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* multiplier, const real* conv_weight,
                         const real* conv_bias, cudaStream_t stream);
}  // namespace task
