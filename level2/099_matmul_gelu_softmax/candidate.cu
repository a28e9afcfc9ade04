#include "task.h"

#include <kb/product.cuh>
#include <kb/softmax.cuh>

struct AddGelu {
  const kb::real* bias;
  __device__ float operator()(float v, int64_t, int64_t, int64_t feature) const {
    v += static_cast<float>(bias[feature]);
    return v / 2 * (1 + erff(v * 0.70710678f));
  }
};

void task::launch(const Sizes& s, const real* x, const real* weight, const real* bias, real* y,
                  cudaStream_t stream) {
  const kb::ProductShape shape = {s.batch_size, s.out_features, s.in_features};
  kb::launch_product(stream, shape, kb::left(x, shape), kb::right_transposed(weight, shape),
                     kb::store(y, shape, AddGelu{bias}));
  kb::launch_softmax(stream, s.batch_size, s.out_features, y, y);
}
