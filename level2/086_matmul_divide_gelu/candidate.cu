#include "task.h"

#include <kb/product.cuh>

struct DivideGelu {
  const kb::real* bias;
  float divisor;
  __device__ float operator()(float v, int64_t, int64_t, int64_t feature) const {
    v = (v + static_cast<float>(bias[feature])) / divisor;
    return v / 2 * (1 + erff(v * 0.70710678f));
  }
};

void task::launch(const Sizes& s, const real* x, const real* weight, const real* bias, real* y,
                  cudaStream_t stream) {
  const kb::ProductShape shape = {s.batch_size, s.output_size, s.input_size};
  kb::launch_product(stream, shape, kb::left(x, shape), kb::right_transposed(weight, shape),
                     kb::store(y, shape, DivideGelu{bias, static_cast<float>(s.divisor)}));
}
