#include "task.h"

#include <kb/axis.cuh>
#include <kb/product.cuh>

struct AddGeluScale {
  const kb::real* bias;
  float factor;
  __device__ float operator()(float v, int64_t, int64_t, int64_t feature) const {
    v += static_cast<float>(bias[feature]);
    return v / 2 * (1 + erff(v * 0.70710678f)) * factor;
  }
};

// The mean of some features of x * transpose(weight) is x times the mean of as many rows of weight,
// which leaves a product with pool_kernel_size times fewer columns.
void task::launch(const Sizes& s, const real* x, const real* weight, const real* bias, real* y,
                  cudaStream_t stream) {
  const int64_t windows = s.out_features / s.pool_kernel_size;
  real *means, *bias_means;
  float* features;
  cudaMallocAsync(&means, windows * s.in_features * sizeof(real), stream);
  cudaMallocAsync(&bias_means, windows * sizeof(real), stream);
  cudaMallocAsync(&features, s.batch_size * windows * sizeof(float), stream);
  const kb::DivideBy divide = {static_cast<float>(s.pool_kernel_size)};
  kb::launch_reduce_axis(stream, windows, s.pool_kernel_size, s.in_features, kb::Sum{}, divide,
                         means, weight);
  kb::launch_reduce_axis(stream, windows, s.pool_kernel_size, 1, kb::Sum{}, divide, bias_means,
                         bias);
  const kb::ProductShape shape = {s.batch_size, windows, s.in_features};
  const AddGeluScale finish = {bias_means, static_cast<float>(s.scale_factor)};
  kb::launch_product(stream, shape, kb::left(x, shape), kb::right_transposed(means, shape),
                     kb::store(features, shape, finish));
  kb::launch_reduce_axis(stream, s.batch_size, windows, 1, kb::Max{}, kb::Same{}, y, features);
  cudaFreeAsync(features, stream);
  cudaFreeAsync(bias_means, stream);
  cudaFreeAsync(means, stream);
}
