// 3D convolution (cross-correlation) with bias (stride 1, no padding), then, element by element, a
// factor, tanh, a second factor and the sigmoid. With k = kernel_size:
// z[n][o][d][h][w] = conv_bias[o] +
//     sum over c, r, p, q of conv_weight[o][c][r][p][q] * x[n][c][d + r][h + p][w + q];
// y = sigmoid(tanh(z * scaling_factor[o]) * bias[o]).
// x: [batch_size, in_channels, depth, height, width]
// scaling_factor, bias: [out_channels, 1, 1, 1]
// conv_weight: [out_channels, in_channels, k, k, k]; conv_bias: [out_channels]
// y: [batch_size, out_channels, depth - k + 1, height - k + 1, width - k + 1]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 128, in_channels = 3, out_channels = 16, depth = 16, height = 64;
  int64_t width = 64, kernel_size = 3;
  KB_FIELDS(batch_size, in_channels, out_channels, depth, height, width, kernel_size)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* scaling_factor, const real* bias,
            const real* conv_weight, const real* conv_bias, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* scaling_factor, const real* bias,
                         const real* conv_weight, const real* conv_bias, cudaStream_t stream);
}  // namespace task
