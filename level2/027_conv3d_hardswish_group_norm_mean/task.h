// 3D convolution (cross-correlation) with bias (stride 1, no padding), then hard swish, group
// normalisation and the mean of each channel. With k = kernel_size:
// z[n][o][d][h][w] = conv_bias[o] +
//     sum over c, r, p, q of conv_weight[o][c][r][p][q] * x[n][c][d + r][h + p][w + q];
// t = z * clamp(z + 3, 0, 6) / 6;
// y[n][o] = mean over d, h, w of ((t - mean) / sqrt(var + 1e-5) * norm_weight[o] + norm_bias[o]),
// where mean and var (without Bessel's correction) are those of t in the sample over each of
// num_groups groups of neighbouring channels.
// x: [batch_size, in_channels, depth, height, width]
// conv_weight: [out_channels, in_channels, k, k, k]; conv_bias: [out_channels]
// norm_weight, norm_bias: [out_channels]; y: [batch_size, out_channels]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 1024, in_channels = 3, out_channels = 16, depth = 16, height = 32;
  int64_t width = 32, kernel_size = 4, num_groups = 4;
  KB_FIELDS(batch_size, in_channels, out_channels, depth, height, width, kernel_size, num_groups)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* conv_weight, const real* conv_bias,
            const real* norm_weight, const real* norm_bias, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* conv_weight, const real* conv_bias,
                         const real* norm_weight, const real* norm_bias, cudaStream_t stream);
}  // namespace task
