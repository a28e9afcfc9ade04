// 3D transposed convolution, max pooling, softmax over the channels, minus a vector, swish, maximum
// over the channels: y = max over o of u * sigmoid(u), where u = softmax over o of v - subtract and
// v is the maximum of each window of pool_kernel_size^3 elements of z. Windows start pool_stride
// apart; each volume has a margin of pool_padding elements of minus infinity.
// z[n][o][d][h][w] = conv_bias[o] + the sum of conv_weight[i][o][p][q][r] * x[n][i][a][b][c] over
// all i and over all p and a with a * stride - padding + p = d, likewise q, b, h and r, c, w.
// x: [batch_size, in_channels, depth, height, width]
// conv_weight: [in_channels, out_channels, kernel_size, kernel_size, kernel_size]
// conv_bias, subtract: [out_channels]
// z: [batch_size, out_channels, length(depth), length(height), length(width)]
// y: [batch_size, pooled(depth), pooled(height), pooled(width)]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 128, in_channels = 3, out_channels = 16;
  int64_t depth = 16, height = 32, width = 32;
  int64_t kernel_size = 3, stride = 2, padding = 1, output_padding = 1;
  int64_t pool_kernel_size = 2, pool_stride = 2, pool_padding = 0;
  KB_FIELDS(batch_size, in_channels, out_channels, depth, height, width, kernel_size, stride,
            padding, output_padding, pool_kernel_size, pool_stride, pool_padding)
  int64_t length(int64_t n) const {
    return (n - 1) * stride - 2 * padding + kernel_size + output_padding;
  }
  int64_t pooled(int64_t n) const {
    return (length(n) + 2 * pool_padding - pool_kernel_size) / pool_stride + 1;
  }
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* subtract, const real* conv_weight,
            const real* conv_bias, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* subtract, const real* conv_weight,
                         const real* conv_bias, cudaStream_t stream);
}  // namespace task
