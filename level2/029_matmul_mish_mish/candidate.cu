#include "task.h"

#include <kb/product.cuh>

struct MishMish {
  const kb::real* bias;
  __device__ float operator()(float v, int64_t, int64_t, int64_t feature) const {
    return kb::mish(kb::mish(v + static_cast<float>(bias[feature])));
  }
};

void task::launch(const Sizes& s, const real* x, const real* weight, const real* bias, real* y,
                  cudaStream_t stream) {
  const kb::ProductShape shape = {s.batch_size, s.out_features, s.in_features};
  kb::launch_product(stream, shape, kb::left(x, shape), kb::right_transposed(weight, shape),
                     kb::store(y, shape, MishMish{bias}));
}
