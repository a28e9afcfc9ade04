// Average pooling, 3D transposed convolution, clamp, softmax over depth, height and width, and a
// factor for each channel.
// v: means of x over windows of pool_kernel_size^3 that do not overlap; a rest is left out.
// z[n][o][d][h][w] = conv_bias[o] + the sum of conv_weight[i][o][p][q][r] * v[n][i][a][b][c] over
// all i and over all p and a with a * stride - padding + p = d, likewise q, b, h and r, c, w.
// y = scale * softmax over d, h, w of min(max(z, clamp_min), clamp_max)
// x: [batch_size, in_channels, depth, height, width]
// conv_weight: [in_channels, out_channels, kernel_size, kernel_size, kernel_size]
// conv_bias: [out_channels]; scale: [1, out_channels, 1, 1, 1]
// v: [batch_size, in_channels, pooled(depth), pooled(height), pooled(width)]
// y, z: [batch_size, out_channels, length(depth), length(height), length(width)]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 32, in_channels = 32, out_channels = 64;
  int64_t depth = 32, height = 64, width = 64;
  int64_t kernel_size = 3, stride = 2, padding = 1, output_padding = 1, pool_kernel_size = 2;
  double clamp_min = 0, clamp_max = 1;
  KB_FIELDS(batch_size, in_channels, out_channels, depth, height, width, kernel_size, stride,
            padding, output_padding, pool_kernel_size, clamp_min, clamp_max)
  int64_t pooled(int64_t n) const { return n / pool_kernel_size; }
  int64_t length(int64_t n) const {
    return (pooled(n) - 1) * stride - 2 * padding + kernel_size + output_padding;
  }
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* scale, const real* conv_weight,
            const real* conv_bias, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* scale, const real* conv_weight,
                         const real* conv_bias, cudaStream_t stream);
}  // namespace task
