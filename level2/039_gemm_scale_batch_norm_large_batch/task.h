// Linear layer, then a factor for each feature and batch normalisation in training mode:
// v = (x * transpose(weight) + bias) * scale; y = (v - mean) / sqrt(var + 1e-5) * bn_weight +
// bn_bias, where mean and var (without Bessel's correction) are those of the feature over the whole
// batch. There are no running statistics.
// x: [batch_size, in_features]; y: [batch_size, out_features]; weight: [out_features, in_features]
// scale, bias, bn_weight, bn_bias: [out_features]. All row-major.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 16384, in_features = 4096, out_features = 4096;
  KB_FIELDS(batch_size, in_features, out_features)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* scale, const real* weight, const real* bias,
            const real* bn_weight, const real* bn_bias, real* y, cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* scale, const real* weight, const real* bias,
                         const real* bn_weight, const real* bn_bias, cudaStream_t stream);
}  // namespace task
