// 1D transposed convolution with stride, padding and dilation, without bias; one group.
// For every o and p, x[n][c][i] adds weight[c][o][p] * x[n][c][i] to
// y[n][o][i * stride - padding + p * dilation];
// what falls outside y is dropped, and elements that nothing reaches are 0.
// x: [batch_size, in_channels, length]
// weight: [in_channels, out_channels, kernel_size]
// y: [batch_size, out_channels, out_length()]
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 32, in_channels = 32, out_channels = 64, kernel_size = 5, length = 131072;
  int64_t stride = 1, padding = 0, dilation = 3;
  KB_FIELDS(batch_size, in_channels, out_channels, kernel_size, length, stride, padding, dilation)
  int64_t out_length() const {
    return (length - 1) * stride - 2 * padding + dilation * (kernel_size - 1) + 1;
  }
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* weight, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* weight, cudaStream_t stream);
}  // namespace task
