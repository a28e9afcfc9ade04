#include "task.h"

#include <kb/product.cuh>
#include <kb/softmax.cuh>

// (v + bias) * mask / (1 - dropout_p)
struct AddDropOut {
  const kb::real* bias;
  const bool* mask;
  int64_t features;
  float factor;
  __device__ float operator()(float v, int64_t, int64_t sample, int64_t feature) const {
    return mask[sample * features + feature] ? (v + static_cast<float>(bias[feature])) * factor : 0;
  }
};

void task::launch(const Sizes& s, const real* x, const bool* mask, const real* weight,
                  const real* bias, real* y, cudaStream_t stream) {
  const kb::ProductShape shape = {s.batch_size, s.out_features, s.in_features};
  const AddDropOut drop = {bias, mask, s.out_features, static_cast<float>(1 / (1 - s.dropout_p))};
  kb::launch_product(stream, shape, kb::left(x, shape), kb::right_transposed(weight, shape),
                     kb::store(y, shape, drop));
  kb::launch_softmax(stream, s.batch_size, s.out_features, y, y);
}
