// 3D transposed convolution with a box-shaped kernel, without bias; stride 1, no padding,
// dilation 1, one group:
// y[n][o][a][b][c] = sum over i, p, q, r of weight[i][o][p][q][r] * x[n][i][a - p][b - q][c - r],
// where x counts as 0 outside its bounds.
// x: [batch_size, in_channels, depth_in, height_in, width_in]
// weight: [in_channels, out_channels, kernel_size[0], kernel_size[1], kernel_size[2]]
// y: [batch_size, out_channels, depth_in + kernel_size[0] - 1, height_in + kernel_size[1] - 1,
// width_in + kernel_size[2] - 1]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 16, in_channels = 32, out_channels = 16;
  std::array<int64_t, 3> kernel_size = {3, 5, 7};  // along depth, height, width
  int64_t depth_in = 16, height_in = 32, width_in = 64;
  KB_FIELDS(batch_size, in_channels, out_channels, kernel_size, depth_in, height_in, width_in)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* weight, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* weight, cudaStream_t stream);
}  // namespace task
