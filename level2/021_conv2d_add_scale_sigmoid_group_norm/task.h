// 2D convolution with bias (stride 1, no padding), sigmoid of its scaled results, group
// normalisation:
// v = conv_bias[o] + sum over c, p, q of conv_weight[o][c][p][q] * x[n][c][i + p][j + q]
// u = sigmoid((v + bias[o]) * scale[o])
// y = (u - mean) / sqrt(var + 1e-5) * group_norm_weight[o] + group_norm_bias[o], where mean and var
// (without Bessel's correction) are those of u over out_channels / num_groups (a whole number)
// neighbouring channels of one sample.
// x: [batch_size, in_channels, height, width]
// bias, scale: [out_channels, 1, 1]
// conv_weight: [out_channels, in_channels, kernel_size, kernel_size]; conv_bias: [out_channels]
// group_norm_weight, group_norm_bias: [out_channels]
// y: [batch_size, out_channels, height - kernel_size + 1, width - kernel_size + 1]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 128, in_channels = 8, out_channels = 32;
  int64_t height = 256, width = 256, kernel_size = 3;
  int64_t num_groups = 8;
  KB_FIELDS(batch_size, in_channels, out_channels, height, width, kernel_size, num_groups)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* bias, const real* scale,
            const real* conv_weight, const real* conv_bias, const real* group_norm_weight,
            const real* group_norm_bias, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* bias, const real* scale,
                         const real* conv_weight, const real* conv_bias,
                         const real* group_norm_weight, const real* group_norm_bias,
                         cudaStream_t stream);
}  // namespace task
