// 2D transposed convolution without bias; stride 1, no padding, dilation 1, one group:
// y[n][o][i][j] = sum over c, p, q of weight[c][o][p][q] * x[n][c][i - p][j - q], where x counts
// as 0 outside its bounds.
// x: [batch_size, in_channels, height, width]
// weight: [in_channels, out_channels, kernel_size, kernel_size]
// y: [batch_size, out_channels, height + kernel_size - 1, width + kernel_size - 1]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 8, in_channels = 64, out_channels = 64, kernel_size = 3;
  int64_t height = 1024, width = 1024;
  KB_FIELDS(batch_size, in_channels, out_channels, kernel_size, height, width)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* weight, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* weight, cudaStream_t stream);
}  // namespace task
