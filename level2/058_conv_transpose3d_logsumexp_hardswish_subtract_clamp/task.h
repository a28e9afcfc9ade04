// 3D transposed convolution, logarithm of the sum of exponentials over the channels, a kind of hard
// swish, minus a number, clamp to [-1, 1]:
// y = min(max(u * sigmoid(u + 3) / 6 - bias, -1), 1), where u = log(sum over o of exp(z)).
// z[n][o][d][h][w] = conv_bias[o] + the sum of conv_weight[i][o][p][q][r] * x[n][i][a][b][c] over
// all i and over all p and a with a * stride - padding + p = d, likewise q, b, h and r, c, w.
// x: [batch_size, in_channels, depth, height, width]
// conv_weight: [in_channels, out_channels, kernel_size, kernel_size, kernel_size]
// bias: [1, 1, 1, 1]; conv_bias: [out_channels]
// z: [batch_size, out_channels, length(depth), length(height), length(width)]
// y: [batch_size, 1, length(depth), length(height), length(width)]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 128, in_channels = 3, out_channels = 16;
  int64_t depth = 16, height = 32, width = 32, kernel_size = 3, stride = 2, padding = 1;
  KB_FIELDS(batch_size, in_channels, out_channels, depth, height, width, kernel_size, stride,
            padding)
  int64_t length(int64_t n) const { return (n - 1) * stride - 2 * padding + kernel_size; }
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* bias, const real* conv_weight,
            const real* conv_bias, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* bias, const real* conv_weight,
                         const real* conv_bias, cudaStream_t stream);
}  // namespace task
