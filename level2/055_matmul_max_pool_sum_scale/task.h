// Linear layer, then the maximum of each window of neighbouring features, the sum of these maxima
// and a scaling: v = x * transpose(weight) + bias; y[i] = scale_factor * (sum over j of the maximum
// of v[i][j * kernel_size], ..., v[i][j * kernel_size + kernel_size - 1]) for all whole windows.
// x: [batch_size, in_features]; y: [batch_size]
// weight: [out_features, in_features]; bias: [out_features]. All row-major.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 128, in_features = 32768, out_features = 32768;
  int64_t kernel_size = 2;
  double scale_factor = 0.5;
  KB_FIELDS(batch_size, in_features, out_features, kernel_size, scale_factor)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* weight, const real* bias, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* weight, const real* bias, cudaStream_t stream);
}  // namespace task
