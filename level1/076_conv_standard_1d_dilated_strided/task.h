// 1D convolution (cross-correlation) with stride and dilation, without bias; no padding, one
// group:
// y[n][o][i] = sum over c, p of weight[o][c][p] * x[n][c][i * stride + p * dilation].
// x: [batch_size, in_channels, length]
// weight: [out_channels, in_channels, kernel_size]
// y: [batch_size, out_channels, out_length()]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 64, in_channels = 64, out_channels = 128, kernel_size = 3, length = 524280;
  int64_t stride = 3, dilation = 4;
  KB_FIELDS(batch_size, in_channels, out_channels, kernel_size, length, stride, dilation)
  int64_t out_length() const { return (length - dilation * (kernel_size - 1) - 1) / stride + 1; }
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* weight, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* weight, cudaStream_t stream);
}  // namespace task
