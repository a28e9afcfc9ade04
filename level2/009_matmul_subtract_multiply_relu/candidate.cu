#include "task.h"

#include <kb/product.cuh>

struct SubtractMultiplyRelu {
  const kb::real* bias;
  float subtract, multiply;
  __device__ float operator()(float v, int64_t, int64_t, int64_t feature) const {
    v = (v + static_cast<float>(bias[feature]) - subtract) * multiply;
    return v < 0 ? 0 : v;
  }
};

void task::launch(const Sizes& s, const real* x, const real* weight, const real* bias, real* y,
                  cudaStream_t stream) {
  const kb::ProductShape shape = {s.batch_size, s.out_features, s.in_features};
  const SubtractMultiplyRelu f = {bias, static_cast<float>(s.subtract_value),
                                  static_cast<float>(s.multiply_value)};
  kb::launch_product(stream, shape, kb::left(x, shape), kb::right_transposed(weight, shape),
                     kb::store(y, shape, f));
}
