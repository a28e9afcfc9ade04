#include "task.h"

#include <kb/axis.cuh>
#include <kb/map.cuh>
#include <kb/moments.cuh>
#include <kb/product.cuh>

// What maps a feature's values: (value - mean) * factor + offset. One thread per feature.
__global__ void make_affine(task::Sizes s, const kb::Moments* moments, const kb::real* weight,
                            const kb::real* bias, const kb::real* added, float* mean, float* factor,
                            float* offset) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= s.out_features) return;
  const float by = 1 / static_cast<float>(s.divide_value);
  mean[i] = moments[i].mean;
  factor[i] = by * static_cast<float>(weight[i]) /
              sqrtf(moments[i].variance() + static_cast<float>(s.bn_eps));
  offset[i] = by * (static_cast<float>(bias[i]) + static_cast<float>(*added));
}

// In place, one block per row of n.
__global__ void swish(const float* mean, const float* factor, const float* offset, kb::real* y,
                      int64_t n) {
  y += blockIdx.x * n;
  const auto f = [](float v, float m, float a, float b) {
    v = (v - m) * a + b;
    return v / (1 + expf(-v));
  };
  kb::map(kb::Block{}, n, f, y, y, mean, factor, offset);
}

void task::launch(const Sizes& s, const real* x, const real* bias, const real* weight,
                  const real* linear_bias, const real* bn_weight, const real* bn_bias, real* y,
                  cudaStream_t stream) {
  const int64_t n = s.out_features;
  kb::Moments* moments;
  float* mean;
  cudaMallocAsync(&moments, n * sizeof(kb::Moments), stream);
  cudaMallocAsync(&mean, 3 * n * sizeof(float), stream);
  float *const factor = mean + n, *const offset = factor + n;
  const kb::ProductShape shape = {s.batch_size, n, s.in_features};
  kb::launch_product(stream, shape, kb::left(x, shape), kb::right_transposed(weight, shape),
                     kb::store(y, shape, kb::AddColumnBias{linear_bias}));
  kb::launch_reduce_axis(stream, 1, s.batch_size, n, kb::OnlineMoments{}, kb::Same{}, moments, y);
  make_affine<<<(n + 255) / 256, 256, 0, stream>>>(s, moments, bn_weight, bn_bias, bias, mean,
                                                   factor, offset);
  swish<<<s.batch_size, 1024, 0, stream>>>(mean, factor, offset, y, n);
  cudaFreeAsync(mean, stream);
  cudaFreeAsync(moments, stream);
}
