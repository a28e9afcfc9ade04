// 3D transposed convolution without bias; stride 1, no padding, dilation 1, one group:
// y[n][o][a][b][c] = sum over i, p, q, r of weight[i][o][p][q][r] * x[n][i][a - p][b - q][c - r],
// where x counts as 0 outside its bounds.
// x: [batch_size, in_channels, depth, height, width]
// weight: [in_channels, out_channels, kernel_size, kernel_size, kernel_size]
// y: [batch_size, out_channels, depth + kernel_size - 1, height + kernel_size - 1, width +
// kernel_size - 1]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 8, in_channels = 48, out_channels = 48, kernel_size = 3;
  int64_t depth = 64, height = 64, width = 64;
  KB_FIELDS(batch_size, in_channels, out_channels, kernel_size, depth, height, width)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* weight, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* weight, cudaStream_t stream);
}  // namespace task
