// 3D transposed convolution, swish, normalisation of groups of out_channels / groups neighbouring
// channels of a sample, hard swish.
// z[n][o][d][h][w] = conv_bias[o] + the sum of conv_weight[i][o][p][q][r] * x[n][i][a][b][c] over
// all i and over all p and a with a * stride - padding + p = d, likewise q, b, h and r, c, w.
// u = z * sigmoid(z); v = (u - mean) / sqrt(var + eps) * norm_weight + norm_bias, where mean and
// var (without Bessel's correction) are those of the group; y = v * min(max(v + 3, 0), 6) / 6. x:
// [batch_size, in_channels, depth, height, width] conv_weight: [in_channels, out_channels,
// kernel_size, kernel_size, kernel_size] conv_bias, norm_weight, norm_bias: [out_channels] y, z:
// [batch_size, out_channels, length(depth), length(height), length(width)]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 128, in_channels = 3, out_channels = 16;
  int64_t depth = 16, height = 32, width = 32, kernel_size = 3, stride = 2, padding = 1;
  int64_t groups = 4;  // divides out_channels
  double eps = 1e-5;
  KB_FIELDS(batch_size, in_channels, out_channels, depth, height, width, kernel_size, stride,
            padding, groups, eps)
  int64_t length(int64_t n) const { return (n - 1) * stride - 2 * padding + kernel_size; }
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* conv_weight, const real* conv_bias,
            const real* norm_weight, const real* norm_bias, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* conv_weight, const real* conv_bias,
                         const real* norm_weight, const real* norm_bias, cudaStream_t stream);
}  // namespace task
