// Linear layer, then group normalisation, Swish, a factor for each feature and Swish again:
// v = x * transpose(weight) + bias; w = (v - mean) / sqrt(var + 1e-5) * gn_weight + gn_bias;
// y = swish(swish(w) * multiply_weight), where swish(w) = w / (1 + exp(-w)). Here mean and var
// (without Bessel's correction) are those of a group: out_features / num_groups neighbouring
// features of a sample. num_groups divides out_features.
// x: [batch_size, in_features]; y: [batch_size, out_features]
// weight: [out_features, in_features]; all others: [out_features]. All row-major.
#pragma once
#include <kb/contract.h>

namespace task {
struct Sizes {
  int64_t batch_size = 1024, in_features = 8192, out_features = 8192;
  int64_t num_groups = 256;
  KB_FIELDS(batch_size, in_features, out_features, num_groups)
};
/// Enqueues the operation on `stream`; does not synchronise.
void launch(const Sizes& s, const real* x, const real* multiply_weight, const real* weight,
            const real* bias, const real* gn_weight, const real* gn_bias, real* y,
            cudaStream_t stream);
/// Optional: repacks weights, untimed, before the launches that use them.
KB_OPTIONAL void prepare(const Sizes& s, const real* multiply_weight, const real* weight,
                         const real* bias, const real* gn_weight, const real* gn_bias,
                         cudaStream_t stream);
}  // namespace task
