#include "task.h"

#include <kb/axis.cuh>
#include <kb/product.cuh>

struct AddBiasSigmoid {
  const kb::real* bias;
  __device__ float operator()(float v, int64_t, int64_t, int64_t feature) const {
    return 1 / (1 + expf(-v - static_cast<float>(bias[feature])));
  }
};

void task::launch(const Sizes& s, const real* x, const real* weight, const real* bias, real* y,
                  cudaStream_t stream) {
  float* z;
  cudaMallocAsync(&z, s.batch_size * s.hidden_size * sizeof(float), stream);
  const kb::ProductShape shape = {s.batch_size, s.hidden_size, s.input_size};
  kb::launch_product(stream, shape, kb::left(x, shape), kb::right_transposed(weight, shape),
                     kb::store(z, shape, AddBiasSigmoid{bias}));
  kb::launch_reduce_axis(stream, s.batch_size, s.hidden_size, 1, kb::Sum{}, kb::Same{}, y, z);
  cudaFreeAsync(z, stream);
}
