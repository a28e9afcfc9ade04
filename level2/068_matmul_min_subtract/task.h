// Linear layer, then the minimum with a learned number, which is then subtracted:
// y = min(x * transpose(weight) + bias, constant) - constant.
// x: [batch_size, in_features]; y: [batch_size, out_features]; constant: one number
// weight: [out_features, in_features]; bias: [out_features]. All row-major.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 128, in_features = 16384, out_features = 16384;
  KB_FIELDS(batch_size, in_features, out_features)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* constant, const real* weight,
            const real* bias, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* constant, const real* weight, const real* bias,
                         cudaStream_t stream);
}  // namespace task
