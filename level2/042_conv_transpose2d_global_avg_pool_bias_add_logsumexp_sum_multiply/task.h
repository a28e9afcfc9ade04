// 2D transposed convolution with its own bias (stride 1, no padding, dilation 1, one group), then
// the mean over height and width, a second bias, the logarithm of the sum of exponentials over the
// channels, the sum over what is left of height and width (one element), and a factor of 10:
// z[n][o][i][j] = conv_bias[o] +
//                 sum over c, p, q of conv_weight[c][o][p][q] * x[n][c][i - p][j - q];
// y[n] = 10 * log(sum over o of exp(mean over i, j of z[n][o][i][j] + bias[o])).
// x: [batch_size, in_channels, height, width], which counts as 0 outside its bounds
// conv_weight: [in_channels, out_channels, kernel_size, kernel_size]; conv_bias: [out_channels]
// bias: [out_channels, 1, 1]; y: [batch_size, 1]; z has kernel_size - 1 rows and columns more than
// x
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 16, in_channels = 64, out_channels = 128, height = 512, width = 512;
  int64_t kernel_size = 3;
  KB_FIELDS(batch_size, in_channels, out_channels, height, width, kernel_size)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* bias, const real* conv_weight,
            const real* conv_bias, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* bias, const real* conv_weight,
                         const real* conv_bias, cudaStream_t stream);
}  // namespace task
