#include "task.h"

#include <kb/product.cuh>

// Mish. tanh(log(1 + e)) is (e^2 + 2 e) / (e^2 + 2 e + 2); beyond 20 it is 1, and e^2 may overflow.
__device__ float mish(float v) {
  const float e = expf(v), w = e * (e + 2);
  return v > 20 ? v : v * (w / (w + 2));
}

struct MishMish {
  const kb::real* bias;
  __device__ float operator()(float v, int64_t, int64_t, int64_t feature) const {
    return mish(mish(v + static_cast<float>(bias[feature])));
  }
};

void task::launch(const Sizes& s, const real* x, const real* weight, const real* bias, real* y,
                  cudaStream_t stream) {
  const kb::ProductShape shape = {s.batch_size, s.out_features, s.in_features};
  kb::launch_product(stream, shape, kb::left(x, shape), kb::right_transposed(weight, shape),
                     kb::store(y, shape, MishMish{bias}));
}
