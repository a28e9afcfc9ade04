// 3D convolution (cross-correlation) with a box-shaped kernel, without bias; stride 1, no
// padding, dilation 1, one group:
// y[n][o][a][b][c] = sum over i, p, q, r of weight[o][i][p][q][r] * x[n][i][a + p][b + q][c + r].
// x: [batch_size, in_channels, depth, height, width]
// weight: [out_channels, in_channels, kernel_size[0], kernel_size[1], kernel_size[2]]
// y: [batch_size, out_channels, depth - kernel_size[0] + 1, height - kernel_size[1] + 1, width -
// kernel_size[2] + 1]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 8, in_channels = 3, out_channels = 64;
  std::array<int64_t, 3> kernel_size = {3, 5, 7};  // along depth, height, width
  int64_t depth = 16, height = 128, width = 128;
  KB_FIELDS(batch_size, in_channels, out_channels, kernel_size, depth, height, width)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* weight, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* weight, cudaStream_t stream);
}  // namespace task
