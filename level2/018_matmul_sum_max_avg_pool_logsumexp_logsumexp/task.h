// Linear layer, then the sum over the features; then maximum, mean and logsumexp, twice, over that
// one value, which change nothing: y[i] = sum over j of (x * transpose(weight) + bias)[i][j].
// x: [batch_size, in_features]; y: [batch_size, 1]
// weight: [out_features, in_features]; bias: [out_features]. All row-major.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 1024, in_features = 8192, out_features = 8192;
  KB_FIELDS(batch_size, in_features, out_features)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* weight, const real* bias, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* weight, const real* bias, cudaStream_t stream);
}  // namespace task
