// 3D transposed convolution without bias (stride 1, no padding), ReLU, normalisation of groups of
// out_channels / groups neighbouring channels of a sample.
// z[n][o][d][h][w] = the sum of conv_weight[i][o][p][q][r] * x[n][i][d - p][h - q][w - r] over all
// i, p, q, r, as far as these are elements of x.
// u = max(z, 0); y = (u - mean) / sqrt(var + 1e-5) * norm_weight + norm_bias, where mean and var
// (without Bessel's correction) are those of the group.
// x: [batch_size, in_channels, D, H, W]; norm_weight, norm_bias: [out_channels]
// conv_weight: [in_channels, out_channels, kernel_size, kernel_size, kernel_size]
// y, z: [batch_size, out_channels, D + kernel_size - 1, H + kernel_size - 1, W + kernel_size - 1]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 16, in_channels = 64, out_channels = 128, D = 32, H = 32, W = 32;
  int64_t kernel_size = 3;
  int64_t groups = 8;  // divides out_channels
  KB_FIELDS(batch_size, in_channels, out_channels, D, H, W, kernel_size, groups)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* conv_weight, const real* norm_weight,
            const real* norm_bias, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* conv_weight, const real* norm_weight,
                         const real* norm_bias, cudaStream_t stream);
}  // namespace task
