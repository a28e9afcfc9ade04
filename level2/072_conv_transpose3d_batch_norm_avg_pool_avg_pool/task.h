// 3D transposed convolution, batch normalisation in training mode, then twice average pooling over
// windows of 2 x 2 x 2 (a rest is left out each time).
// z[n][o][d][h][w] = conv_bias[o] + the sum of conv_weight[i][o][p][q][r] * x[n][i][a][b][c] over
// all i and over all p and a with a * stride - padding + p = d, likewise q, b, h and r, c, w.
// u = (z - mean) / sqrt(var + 1e-5) * norm_weight + norm_bias, where mean and var (without Bessel's
// correction) are those of z's channel over all samples; y = pool(pool(u)).
// x: [batch_size, in_channels, depth, height, width]
// conv_weight: [in_channels, out_channels, kernel_size, kernel_size, kernel_size]
// conv_bias, norm_weight, norm_bias: [out_channels]
// z, u: [batch_size, out_channels, length(depth), length(height), length(width)]
// y: [batch_size, out_channels, pooled(depth), pooled(height), pooled(width)]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 64, in_channels = 3, out_channels = 16;
  int64_t depth = 32, height = 32, width = 32, kernel_size = 3, stride = 2, padding = 1;
  KB_FIELDS(batch_size, in_channels, out_channels, depth, height, width, kernel_size, stride,
            padding)
  int64_t length(int64_t n) const { return (n - 1) * stride - 2 * padding + kernel_size; }
  int64_t pooled(int64_t n) const { return length(n) / 2 / 2; }
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* conv_weight, const real* conv_bias,
            const real* norm_weight, const real* norm_bias, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* conv_weight, const real* conv_bias,
                         const real* norm_weight, const real* norm_bias, cudaStream_t stream);
}  // namespace task
