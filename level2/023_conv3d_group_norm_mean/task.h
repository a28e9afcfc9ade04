// 3D convolution (cross-correlation) with bias (stride 1, no padding), then group normalisation,
// then the mean of each sample. With k = kernel_size:
// z[n][o][d][h][w] = conv_bias[o] +
//     sum over c, r, p, q of conv_weight[o][c][r][p][q] * x[n][c][d + r][h + p][w + q];
// y[n] = mean over all but n of ((z - mean) / sqrt(var + 1e-5) * norm_weight[o] + norm_bias[o]),
// where mean and var (without Bessel's correction) are those of z in the sample over each of
// num_groups groups of neighbouring channels.
// x: [batch_size, in_channels, D, H, W]
// conv_weight: [out_channels, in_channels, k, k, k]; conv_bias: [out_channels]
// norm_weight, norm_bias: [out_channels]; y: [batch_size]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 128, in_channels = 3, out_channels = 24, D = 24, H = 32, W = 32;
  int64_t kernel_size = 3, num_groups = 8;
  KB_FIELDS(batch_size, in_channels, out_channels, D, H, W, kernel_size, num_groups)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* conv_weight, const real* conv_bias,
            const real* norm_weight, const real* norm_bias, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* conv_weight, const real* conv_bias,
                         const real* norm_weight, const real* norm_bias, cudaStream_t stream);
}  // namespace task
