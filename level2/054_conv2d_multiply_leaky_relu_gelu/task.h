// 2D convolution with bias (stride 1, no padding), a factor per channel, LeakyReLU and GELU:
// v = conv_bias[o] + sum over c, p, q of conv_weight[o][c][p][q] * x[n][c][i + p][j + q]
// u = v * multiplier[o]
// y = gelu(u < 0 ? 0.01 * u : u), where gelu(v) = v / 2 * (1 + erf(v / sqrt(2))).
// x: [batch_size, in_channels, height, width]
// multiplier: [out_channels, 1, 1]
// conv_weight: [out_channels, in_channels, kernel_size, kernel_size]; conv_bias: [out_channels]
// y: [batch_size, out_channels, height - kernel_size + 1, width - kernel_size + 1]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 64, in_channels = 64, out_channels = 64;
  int64_t height = 256, width = 256, kernel_size = 3;
  KB_FIELDS(batch_size, in_channels, out_channels, height, width, kernel_size)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* multiplier, const real* conv_weight,
            const real* conv_bias, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* multiplier, const real* conv_weight,
                         const real* conv_bias, cudaStream_t stream);
}  // namespace task
