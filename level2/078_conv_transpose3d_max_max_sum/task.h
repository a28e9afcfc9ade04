// 3D transposed convolution, maximum of each window of 2 x 2 x 2, of each window of 3 x 3 x 3 of
// these (a rest is left out each time), sum over the channels.
// z[n][o][d][h][w] = conv_bias[o] + the sum of conv_weight[i][o][p][q][r] * x[n][i][a][b][c] over
// all i and over all p and a with a * stride - padding + p = d, likewise q, b, h and r, c, w.
// x: [batch_size, in_channels, depth, height, width]
// conv_weight: [in_channels, out_channels, kernel_size, kernel_size, kernel_size]
// conv_bias: [out_channels]
// z: [batch_size, out_channels, length(depth), length(height), length(width)]
// y: [batch_size, 1, pooled(depth), pooled(height), pooled(width)]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 16, in_channels = 32, out_channels = 64;
  int64_t depth = 32, height = 32, width = 32, kernel_size = 5, stride = 2, padding = 2;
  KB_FIELDS(batch_size, in_channels, out_channels, depth, height, width, kernel_size, stride,
            padding)
  int64_t length(int64_t n) const { return (n - 1) * stride - 2 * padding + kernel_size; }
  int64_t pooled(int64_t n) const { return length(n) / 2 / 3; }
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* conv_weight, const real* conv_bias, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* conv_weight, const real* conv_bias,
                         cudaStream_t stream);
}  // namespace task
