#include "task.h"

#include <kb/product.cuh>
#include <kb/reduce.cuh>

// The scaled sum over the windows of their maxima. One block per sample of n features.
__global__ void sum_of_maxima(const float* z, kb::real* y, int64_t n, int64_t window,
                              float factor) {
  z += blockIdx.x * n;
  float sum = 0;
  for (int64_t i = threadIdx.x; i < n / window; i += blockDim.x) {
    float best = kb::Max::identity();
    for (int64_t k = 0; k < window; ++k) best = kb::Max{}(best, z[i * window + k]);
    sum += best;
  }
  sum = kb::combine(kb::Block{}, sum, kb::Sum{});
  if (threadIdx.x == 0) y[blockIdx.x] = static_cast<kb::real>(sum * factor);
}

void task::launch(const Sizes& s, const real* x, const real* weight, const real* bias, real* y,
                  cudaStream_t stream) {
  float* z;
  cudaMallocAsync(&z, s.batch_size * s.out_features * sizeof(float), stream);
  const kb::ProductShape shape = {s.batch_size, s.out_features, s.in_features};
  kb::launch_product(stream, shape, kb::left(x, shape), kb::right_transposed(weight, shape),
                     kb::store(z, shape, kb::AddColumnBias{bias}));
  sum_of_maxima<<<s.batch_size, 1024, 0, stream>>>(z, y, s.out_features, s.kernel_size,
                                                   static_cast<float>(s.scale_factor));
  cudaFreeAsync(z, stream);
}
