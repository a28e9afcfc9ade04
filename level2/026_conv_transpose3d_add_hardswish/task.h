// 3D transposed convolution, plus a tensor, times its own hard swish:
// y = u * hardswish(u), where u = z + add_input and hardswish(v) = v * min(max(v + 3, 0), 6) / 6.
// z[n][o][d][h][w] = conv_bias[o] + the sum of conv_weight[i][o][p][q][r] * x[n][i][a][b][c] over
// all i and over all p and a with a * stride - padding + p = d, likewise q, b, h and r, c, w.
// x: [batch_size, in_channels, D, H, W]
// conv_weight: [in_channels, out_channels, kernel_size, kernel_size, kernel_size]
// conv_bias: [out_channels]
// add_input, y, z: [batch_size, out_channels, length(D), length(H), length(W)]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 128, in_channels = 32, out_channels = 64, D = 16, H = 16, W = 16;
  int64_t kernel_size = 3, stride = 2, padding = 1, output_padding = 1;
  KB_FIELDS(batch_size, in_channels, out_channels, D, H, W, kernel_size, stride, padding,
            output_padding)
  int64_t length(int64_t n) const {
    return (n - 1) * stride - 2 * padding + kernel_size + output_padding;
  }
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* add_input, const real* conv_weight,
            const real* conv_bias, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* conv_weight, const real* conv_bias,
                         cudaStream_t stream);
}  // namespace task
