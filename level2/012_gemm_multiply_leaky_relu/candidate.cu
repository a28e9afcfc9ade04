#include "task.h"

#include <kb/product.cuh>

struct MultiplyLeakyRelu {
  const kb::real* bias;
  float multiplier, slope;
  __device__ float operator()(float v, int64_t, int64_t, int64_t feature) const {
    v = (v + static_cast<float>(bias[feature])) * multiplier;
    return v > 0 ? v : v * slope;
  }
};

void task::launch(const Sizes& s, const real* x, const real* weight, const real* bias, real* y,
                  cudaStream_t stream) {
  const kb::ProductShape shape = {s.batch_size, s.out_features, s.in_features};
  const MultiplyLeakyRelu f = {bias, static_cast<float>(s.multiplier),
                               static_cast<float>(s.negative_slope)};
  kb::launch_product(stream, shape, kb::left(x, shape), kb::right_transposed(weight, shape),
                     kb::store(y, shape, f));
}
