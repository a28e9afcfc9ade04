#include "task.h"

#include <kb/axis.cuh>
#include <kb/product.cuh>
#include <kb/softmax.cuh>

struct Finish {
  __device__ static float leaky_relu(float v) { return v > 0 ? v : v * 0.01f; }
  __device__ static float gelu(float v) { return v / 2 * (1 + erff(v * 0.70710678f)); }
  __device__ float operator()(kb::ExpSum row) const {
    const float log_sum_exp = row.max + logf(row.sum);
    return gelu(gelu(leaky_relu(leaky_relu(log_sum_exp))));
  }
};

void task::launch(const Sizes& s, const real* x, const real* weight, const real* bias, real* y,
                  cudaStream_t stream) {
  float* z;
  cudaMallocAsync(&z, s.batch_size * s.out_features * sizeof(float), stream);
  const kb::ProductShape shape = {s.batch_size, s.out_features, s.in_features};
  kb::launch_product(stream, shape, kb::left(x, shape), kb::right_transposed(weight, shape),
                     kb::store(z, shape, kb::AddColumnBias{bias}));
  kb::launch_reduce_axis(stream, s.batch_size, s.out_features, 1, kb::OnlineSoftmax{}, Finish{}, y,
                         z);
  cudaFreeAsync(z, stream);
}
