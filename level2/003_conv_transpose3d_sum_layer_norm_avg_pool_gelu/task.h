// 3D transposed convolution, plus a scalar, layer normalisation along the width, average pooling,
// GELU (exact, by the error function).
// z[n][o][d][h][w] = conv_bias[o] + the sum of conv_weight[i][o][p][q][r] * x[n][i][a][b][c] over
// all i and over all p and a with a * stride[0] - padding[0] + p = d,
// likewise q, b, h with [1] and r, c, w with [2].
// u = (z + sum_weight - mean) / sqrt(var + 1e-5) * norm_weight + norm_bias, where mean and var
// (without Bessel's correction) are those of z[n][o][d][h] + sum_weight; norm_weight and norm_bias
// are indexed by w. y = gelu(v), where v holds the means of u over windows of pool_kernel_size that
// do not overlap; a rest is left out.
// x: [batch_size, in_channels, depth, height, width]
// conv_weight: [in_channels, out_channels, kernel_size[0], kernel_size[1], kernel_size[2]]
// conv_bias: [out_channels]; norm_weight, norm_bias: [norm_shape[0]]; sum_weight: one number
// z: [batch_size, out_channels, length(0), length(1), length(2)]
// y: [batch_size, out_channels, pooled(0), pooled(1), pooled(2)]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 32, in_channels = 32, out_channels = 64;
  int64_t depth = 16, height = 32, width = 32;
  std::array<int64_t, 3> kernel_size = {3, 3, 3}, stride = {2, 2, 2};
  std::array<int64_t, 3> padding = {1, 1, 1}, output_padding = {1, 1, 1};
  std::array<int64_t, 1> norm_shape = {64};  // the same as length(2)
  std::array<int64_t, 3> pool_kernel_size = {2, 2, 2};
  KB_FIELDS(batch_size, in_channels, out_channels, depth, height, width, kernel_size, stride,
            padding, output_padding, norm_shape, pool_kernel_size)
  int64_t length(int i) const {
    const int64_t in[] = {depth, height, width};
    return (in[i] - 1) * stride[i] - 2 * padding[i] + kernel_size[i] + output_padding[i];
  }
  int64_t pooled(int i) const { return length(i) / pool_kernel_size[i]; }
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* sum_weight, const real* conv_weight,
            const real* conv_bias, const real* norm_weight, const real* norm_bias, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* sum_weight, const real* conv_weight,
                         const real* conv_bias, const real* norm_weight, const real* norm_bias,
                         cudaStream_t stream);
}  // namespace task
