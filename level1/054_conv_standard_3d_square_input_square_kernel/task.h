// 3D convolution (cross-correlation) with a cubic kernel, without bias; stride 1, no padding,
// dilation 1, one group:
// y[n][o][a][b][c] = sum over i, p, q, r of weight[o][i][p][q][r] * x[n][i][a + p][b + q][c + r].
// x: [batch_size, in_channels, depth, width, height]
// weight: [out_channels, in_channels, kernel_size, kernel_size, kernel_size]
// y: [batch_size, out_channels, depth - kernel_size + 1, width - kernel_size + 1, height -
// kernel_size + 1]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 16, in_channels = 3, out_channels = 64, kernel_size = 3;
  int64_t depth = 64, width = 64, height = 64;
  KB_FIELDS(batch_size, in_channels, out_channels, kernel_size, depth, width, height)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* weight, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* weight, cudaStream_t stream);
}  // namespace task
