// 2D transposed convolution with bias (dilation 1, one group), batch normalisation in training
// mode, tanh, max pooling over windows of 2 x 2 that do not overlap (a last odd row or column is
// left out), group normalisation:
// z[n][o][i][j] = conv_bias[o] + sum over c, p, q, h, w with h * stride - padding + p = i and
//                 w * stride - padding + q = j of conv_weight[c][o][p][q] * x[n][c][h][w];
// t = maxpool(tanh((z - m[o]) / sqrt(v[o] + 1e-5) * batch_weight[o] + batch_bias[o])),
// m, v: mean and variance of channel o of z over the whole batch;
// y = (t - mean) / sqrt(var + 1e-5) * group_weight[o] + group_bias[o], mean, var: those of t in the
// sample over each of num_groups groups of neighbouring channels. No variance has Bessel's
// correction. There are no running statistics.
// x: [batch_size, in_channels, height, width]; all other vectors: [out_channels]
// conv_weight: [in_channels, out_channels, kernel_size, kernel_size]
// y: [batch_size, out_channels, out_height() / 2, out_width() / 2]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 512, in_channels = 64, out_channels = 128, height = 32, width = 32;
  int64_t kernel_size = 5, stride = 1, padding = 1, num_groups = 8;
  KB_FIELDS(batch_size, in_channels, out_channels, height, width, kernel_size, stride, padding,
            num_groups)
  int64_t out_height() const { return (height - 1) * stride - 2 * padding + kernel_size; }
  int64_t out_width() const { return (width - 1) * stride - 2 * padding + kernel_size; }
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* conv_weight, const real* conv_bias,
            const real* batch_weight, const real* batch_bias, const real* group_weight,
            const real* group_bias, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* conv_weight, const real* conv_bias,
                         const real* batch_weight, const real* batch_bias, const real* group_weight,
                         const real* group_bias, cudaStream_t stream);
}  // namespace task
