#include "task.h"

#include <kb/axis.cuh>
#include <kb/moments.cuh>
#include <kb/product.cuh>

struct AddBiasScale {
  const kb::real *bias, *scale;
  __device__ float operator()(float v, int64_t, int64_t, int64_t feature) const {
    return (v + static_cast<float>(bias[feature])) * static_cast<float>(scale[feature]);
  }
};

// y holds what is to be normalised. A thread takes one feature, of a few samples at a time.
__global__ void batch_norm(task::Sizes s, const kb::Moments* moments, const kb::real* weight,
                           const kb::real* bias, kb::real* y) {
  const int64_t feature = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (feature >= s.out_features) return;
  const kb::Moments m = moments[feature];
  const float factor = static_cast<float>(weight[feature]) / sqrtf(m.variance() + 1e-5f);
  const float offset = static_cast<float>(bias[feature]);
  constexpr int few = 8;
  for (int64_t i = int64_t{blockIdx.y} * few; i < s.batch_size; i += int64_t{gridDim.y} * few) {
    kb::real* const at = y + i * s.out_features + feature;
    float values[few];
#pragma unroll
    for (int j = 0; j < few; ++j) {
      if (i + j < s.batch_size) values[j] = static_cast<float>(at[j * s.out_features]);
    }
#pragma unroll
    for (int j = 0; j < few; ++j) {
      if (i + j >= s.batch_size) break;
      const float v = (values[j] - m.mean) * factor + offset;
      at[j * s.out_features] = static_cast<kb::real>(v);
    }
  }
}

void task::launch(const Sizes& s, const real* x, const real* scale, const real* weight,
                  const real* bias, const real* bn_weight, const real* bn_bias, real* y,
                  cudaStream_t stream) {
  const kb::ProductShape shape = {s.batch_size, s.out_features, s.in_features};
  const AddBiasScale f = {bias, scale};
  kb::launch_product(stream, shape, kb::left(x, shape), kb::right_transposed(weight, shape),
                     kb::store(y, shape, f));
  kb::Moments* moments;
  cudaMallocAsync(&moments, s.out_features * sizeof(kb::Moments), stream);
  kb::launch_reduce_axis(stream, 1, s.batch_size, s.out_features, kb::OnlineMoments{}, kb::Same{},
                         moments, y);
  constexpr int threads = 256, most = 256;
  const dim3 grid((s.out_features + threads - 1) / threads,
                  s.batch_size < most ? s.batch_size : most);
  batch_norm<<<grid, threads, 0, stream>>>(s, moments, bn_weight, bn_bias, y);
  cudaFreeAsync(moments, stream);
}
