// Linear layer, then means over windows of features, GELU, a scaling and the maximum:
// v = x * transpose(weight) + bias; w[i][p] = mean of the pool_kernel_size features of v[i] from
// p * pool_kernel_size on; y[i] = max over p of w[i][p] * (1 + erf(w[i][p] / sqrt(2))) / 2 *
// scale_factor. Features after the last whole window are not used.
// x: [batch_size, in_features]; y: [batch_size]
// weight: [out_features, in_features]; bias: [out_features]. All row-major.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 1024, in_features = 8192, out_features = 8192;
  int64_t pool_kernel_size = 16;
  double scale_factor = 2;
  KB_FIELDS(batch_size, in_features, out_features, pool_kernel_size, scale_factor)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* weight, const real* bias, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* weight, const real* bias, cudaStream_t stream);
}  // namespace task
