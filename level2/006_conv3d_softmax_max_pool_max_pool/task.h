// 3D convolution (cross-correlation) with bias (stride 1, no padding), then softmax over the
// channels, then two max poolings, each over windows of pool_kernel_size^3 that do not overlap;
// what does not fill a window is left out. With k = kernel_size:
// z[n][o][d][h][w] = conv_bias[o] +
//     sum over c, r, p, q of conv_weight[o][c][r][p][q] * x[n][c][d + r][h + p][w + q];
// y = maxpool(maxpool(softmax(z over o))).
// x: [batch_size, in_channels, depth, height, width]
// conv_weight: [out_channels, in_channels, k, k, k]; conv_bias: [out_channels]
// y: [batch_size, out_channels, pooled(depth), pooled(height), pooled(width)]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 128, in_channels = 3, out_channels = 16, depth = 16, height = 32;
  int64_t width = 32, kernel_size = 3, pool_kernel_size = 2;
  KB_FIELDS(batch_size, in_channels, out_channels, depth, height, width, kernel_size,
            pool_kernel_size)
  int64_t pooled(int64_t extent) const {
    return (extent - kernel_size + 1) / pool_kernel_size / pool_kernel_size;
  }
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* conv_weight, const real* conv_bias, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* conv_weight, const real* conv_bias,
                         cudaStream_t stream);
}  // namespace task
