// Pointwise (1x1) 2D convolution without bias:
// y[n][o][i][j] = sum over c of weight[o][c][0][0] * x[n][c][i][j].
// x: [batch_size, in_channels, height, width]
// weight: [out_channels, in_channels, 1, 1]
// y: [batch_size, out_channels, height, width]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 16, in_channels = 64, out_channels = 128, width = 1024, height = 1024;
  KB_FIELDS(batch_size, in_channels, out_channels, width, height)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* weight, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* weight, cudaStream_t stream);
}  // namespace task
