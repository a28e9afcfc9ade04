// 1D transposed convolution without bias; stride 1, no padding, dilation 1, one group:
// y[n][o][i] = sum over c, p of weight[c][o][p] * x[n][c][i - p], where x counts as 0 outside its
// bounds.
// x: [batch_size, in_channels, length]
// weight: [in_channels, out_channels, kernel_size]
// y: [batch_size, out_channels, length + kernel_size - 1]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 64, in_channels = 128, out_channels = 128, kernel_size = 3, length = 65536;
  KB_FIELDS(batch_size, in_channels, out_channels, kernel_size, length)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* weight, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* weight, cudaStream_t stream);
}  // namespace task
