// Linear layer, then dropout with a given mask, then softmax over the features:
// z = x * transpose(weight) + bias; y = softmax(z * mask / (1 - dropout_p)), row by row.
// x: [batch_size, in_features]; mask, y: [batch_size, out_features]
// weight: [out_features, in_features]; bias: [out_features]. All row-major. The mask has one byte
// per element, 1 to keep and 0 to drop; a dropped element enters the softmax as 0.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 128, in_features = 16384, out_features = 16384;
  double dropout_p = 0.2;
  KB_FIELDS(batch_size, in_features, out_features, dropout_p)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const bool* mask, const real* weight, const real* bias,
            real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* weight, const real* bias, cudaStream_t stream);
}  // namespace task
