// 3D transposed convolution, layer normalisation along the width, GELU (exact, by the error
// function), scaling.
// z[n][o][d][h][w] = conv_bias[o] + the sum of conv_weight[i][o][p][q][r] * x[n][i][a][b][c] over
// all i and over all p and a with a * stride - padding + p = d, likewise q, b, h and r, c, w.
// y = scaling_factor * gelu((z - mean) / sqrt(var + eps) * norm_weight + norm_bias), where mean and
// var (without Bessel's correction) are those of the row z[n][o][d][h]; norm_weight and norm_bias
// are indexed by w.
// x: [batch_size, in_channels, D, H, W]; conv_bias: [out_channels]
// conv_weight: [in_channels, out_channels, kernel_size, kernel_size, kernel_size]
// norm_weight, norm_bias: [length(W)], which is out_channels
// y, z: [batch_size, out_channels, length(D), length(H), length(W)]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 32, in_channels = 32;
  int64_t out_channels = 64;  // the same as length(W)
  int64_t D = 16, H = 32, W = 32, kernel_size = 4, stride = 2, padding = 1;
  double eps = 1e-5, scaling_factor = 1;
  KB_FIELDS(batch_size, in_channels, out_channels, D, H, W, kernel_size, stride, padding, eps,
            scaling_factor)
  int64_t length(int64_t n) const { return (n - 1) * stride - 2 * padding + kernel_size; }
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* conv_weight, const real* conv_bias,
            const real* norm_weight, const real* norm_bias, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* conv_weight, const real* conv_bias,
                         const real* norm_weight, const real* norm_bias, cudaStream_t stream);
}  // namespace task
