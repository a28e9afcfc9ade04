// 3D transposed convolution (stride 1, no padding), scaling, batch normalisation in training mode,
// mean over depth, height and width.
// z[n][o][d][h][w] = conv_bias[o] + the sum of conv_weight[i][o][p][q][r] *
// x[n][i][d - p][h - q][w - r] over all i, p, q, r, as far as these are elements of x.
// u = z * scale_factor; y[n][o] = mean over d, h, w of
// (u - mean) / sqrt(var + 1e-5) * norm_weight + norm_bias, where mean and var (without Bessel's
// correction) are those of u's channel over all samples.
// x: [batch_size, in_channels, depth, height, width]
// conv_weight: [in_channels, out_channels, kernel_size, kernel_size, kernel_size]
// conv_bias, norm_weight, norm_bias: [out_channels]
// z: [batch_size, out_channels, length(depth), length(height), length(width)]
// y: [batch_size, out_channels, 1, 1, 1]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 16, in_channels = 64, out_channels = 128;
  int64_t depth = 16, height = 32, width = 32, kernel_size = 5;
  double scale_factor = 2;
  KB_FIELDS(batch_size, in_channels, out_channels, depth, height, width, kernel_size, scale_factor)
  int64_t length(int64_t n) const { return n + kernel_size - 1; }
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* conv_weight, const real* conv_bias,
            const real* norm_weight, const real* norm_bias, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* conv_weight, const real* conv_bias,
                         const real* norm_weight, const real* norm_bias, cudaStream_t stream);
}  // namespace task
