#include "task.h"

#include <kb/product.cuh>

struct AddScaledSigmoid {
  const kb::real* bias;
  float factor;
  __device__ float operator()(float v, int64_t, int64_t, int64_t feature) const {
    v += static_cast<float>(bias[feature]);
    return factor / (1 + expf(-v)) + v;
  }
};

void task::launch(const Sizes& s, const real* x, const real* weight, const real* bias, real* y,
                  cudaStream_t stream) {
  const kb::ProductShape shape = {s.batch_size, s.hidden_size, s.input_size};
  kb::launch_product(
      stream, shape, kb::left(x, shape), kb::right_transposed(weight, shape),
      kb::store(y, shape, AddScaledSigmoid{bias, static_cast<float>(s.scaling_factor)}));
}
