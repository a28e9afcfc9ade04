#include "task.h"

#include <kb/batch_norm.cuh>
#include <kb/product.cuh>

struct GeluRelu {
  __device__ float operator()(float v) const {
    const float gelu = v / 2 * (1 + erff(v * 0.70710678f));
    return gelu < 0 ? 0 : gelu;
  }
};

void task::launch(const Sizes& s, const real* x, const real* weight, const real* bias,
                  const real* bn_weight, const real* bn_bias, real* y, cudaStream_t stream) {
  const kb::ProductShape shape = {s.batch_size, s.out_features, s.in_features};
  kb::launch_product(stream, shape, kb::left(x, shape), kb::right_transposed(weight, shape),
                     kb::store(y, shape, kb::AddColumnBias{bias}));
  kb::launch_batch_norm_of_columns(stream, s.batch_size, s.out_features, bn_weight, bn_bias, 1e-5f,
                                   GeluRelu{}, y);
}
