// 2D convolution with bias (stride 1, no padding), group normalisation, log-sum-exp over the
// channels:
// v = conv_bias[o] + sum over c, p, q of conv_weight[o][c][p][q] * x[n][c][i + p][j + q]
// u = tanh((v - mean) / sqrt(var + 1e-5) * group_norm_weight[o] + group_norm_bias[o]), where mean
// and var (without Bessel's correction) are those of v over out_channels / groups (a whole number)
// neighbouring channels of one sample.
// w = v + hardswish(u), where hardswish(u) = u * min(max(u + 3, 0), 6) / 6
// y[n][0][i][j] = log(sum over o of exp(w[n][o][i][j])).
// x: [batch_size, in_channels, height, width]
// conv_weight: [out_channels, in_channels, kernel_size, kernel_size]; conv_bias: [out_channels]
// group_norm_weight, group_norm_bias: [out_channels]
// y: [batch_size, 1, height - kernel_size + 1, width - kernel_size + 1]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 128, in_channels = 8, out_channels = 64;
  int64_t height = 128, width = 128, kernel_size = 3;
  int64_t groups = 16;
  KB_FIELDS(batch_size, in_channels, out_channels, height, width, kernel_size, groups)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* conv_weight, const real* conv_bias,
            const real* group_norm_weight, const real* group_norm_bias, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* conv_weight, const real* conv_bias,
                         const real* group_norm_weight, const real* group_norm_bias,
                         cudaStream_t stream);
}  // namespace task
