// 2D convolution with bias (stride 1, no padding), group normalisation, max pooling, clamp:
// v = conv_bias[o] + sum over c, p, q of conv_weight[o][c][p][q] * x[n][c][i + p][j + q]
// u = ((v - mean) / sqrt(var + 1e-5) * group_norm_weight[o] + group_norm_bias[o]) * scale[o], where
// mean and var (without Bessel's correction) are those of v over out_channels / num_groups (a whole
// number) neighbouring channels of one sample.
// y = min(max(maximum of u in each window, clamp_min), clamp_max).
// Windows of maxpool_kernel_size x maxpool_kernel_size lie side by side; what fills none is left
// out.
// x: [batch_size, in_channels, height, width]
// scale: [out_channels, 1, 1]
// conv_weight: [out_channels, in_channels, kernel_size, kernel_size]; conv_bias: [out_channels]
// group_norm_weight, group_norm_bias: [out_channels]
// y: [batch_size, out_channels, pooled(height), pooled(width)]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 128, in_channels = 8, out_channels = 64;
  int64_t height = 128, width = 128, kernel_size = 3;
  int64_t num_groups = 16, maxpool_kernel_size = 4;
  double clamp_min = 0, clamp_max = 1;
  KB_FIELDS(batch_size, in_channels, out_channels, height, width, kernel_size, num_groups,
            maxpool_kernel_size, clamp_min, clamp_max)
  int64_t pooled(int64_t length) const { return (length - kernel_size + 1) / maxpool_kernel_size; }
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* scale, const real* conv_weight,
            const real* conv_bias, const real* group_norm_weight, const real* group_norm_bias,
            real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* scale, const real* conv_weight,
                         const real* conv_bias, const real* group_norm_weight,
                         const real* group_norm_bias, cudaStream_t stream);
}  // namespace task
