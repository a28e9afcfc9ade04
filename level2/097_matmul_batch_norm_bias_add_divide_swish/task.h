// Linear layer, then batch normalisation in training mode, a learned offset, a division and Swish:
// v = x * transpose(weight) + linear_bias; w = (v - mean) / sqrt(var + bn_eps) * bn_weight +
// bn_bias; z = (w + bias) / divide_value; y = z / (1 + exp(-z)). Here mean and var (without
// Bessel's correction) are those of the feature over the whole batch. There are no running
// statistics.
// x: [batch_size, in_features]; y: [batch_size, out_features]; bias: [1]
// weight: [out_features, in_features]; linear_bias, bn_weight, bn_bias: [out_features]. All
// row-major.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 1024, in_features = 8192, out_features = 8192;
  double bn_eps = 1e-5, divide_value = 1;
  KB_FIELDS(batch_size, in_features, out_features, bn_eps, divide_value)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* bias, const real* weight,
            const real* linear_bias, const real* bn_weight, const real* bn_bias, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* bias, const real* weight,
                         const real* linear_bias, const real* bn_weight, const real* bn_bias,
                         cudaStream_t stream);
}  // namespace task
