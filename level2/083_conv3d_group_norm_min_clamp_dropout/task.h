// 3D convolution (cross-correlation) with bias (stride 1, no padding), then group normalisation,
// the minimum with a number, a clamp, and dropout with a given mask. With k = kernel_size:
// z[n][o][d][h][w] = conv_bias[o] +
//     sum over c, r, p, q of conv_weight[o][c][r][p][q] * x[n][c][d + r][h + p][w + q];
// t = (z - mean) / sqrt(var + 1e-5) * norm_weight[o] + norm_bias[o], where mean and var (without
// Bessel's correction) are those of z in the sample over each of `groups` groups of neighbouring
// channels; y = min(max(min(t, min_value), min_value), max_value) * mask / (1 - dropout_p).
// x: [batch_size, in_channels, depth, height, width]
// conv_weight: [out_channels, in_channels, k, k, k]; conv_bias, norm_weight, norm_bias:
// [out_channels]; mask, y: [batch_size, out_channels, depth - k + 1, height - k + 1, width - k + 1]
// The mask has one byte per element, 1 to keep and 0 to drop.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 128, in_channels = 3, out_channels = 16, depth = 16, height = 64;
  int64_t width = 64, kernel_size = 3, groups = 8;
  double min_value = 0, max_value = 1, dropout_p = 0.2;
  KB_FIELDS(batch_size, in_channels, out_channels, depth, height, width, kernel_size, groups,
            min_value, max_value, dropout_p)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const bool* mask, const real* conv_weight,
            const real* conv_bias, const real* norm_weight, const real* norm_bias, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* conv_weight, const real* conv_bias,
                         const real* norm_weight, const real* norm_bias, cudaStream_t stream);
}  // namespace task
