#include "task.h"

#include <kb/product.cuh>

struct ScaleHardtanhGelu {
  const kb::real* bias;
  float factor, low, high;
  __device__ float operator()(float v, int64_t, int64_t, int64_t feature) const {
    v = kb::clamp((v + static_cast<float>(bias[feature])) * factor, low, high);
    return v / 2 * (1 + erff(v * 0.70710678f));
  }
};

void task::launch(const Sizes& s, const real* x, const real* weight, const real* bias, real* y,
                  cudaStream_t stream) {
  const kb::ProductShape shape = {s.batch_size, s.out_features, s.in_features};
  const ScaleHardtanhGelu f = {bias, static_cast<float>(s.scaling_factor),
                               static_cast<float>(s.hardtanh_min),
                               static_cast<float>(s.hardtanh_max)};
  kb::launch_product(stream, shape, kb::left(x, shape), kb::right_transposed(weight, shape),
                     kb::store(y, shape, f));
}
