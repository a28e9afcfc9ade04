#include "task.h"

#include <kb/axis.cuh>
#include <kb/conv.cuh>

using kb::real;

struct BiasAndDivision {
  const real* bias;
  float divisor;
  __device__ float operator()(float v, int64_t, int64_t channel, int64_t) const {
    const float added = bias[channel];
    return (v + added) / divisor;
  }
};

// One block per channel of a sample of z, [slices, rows, columns]: the mean of the maxima of its
// windows, and the bias.
__global__ void pool(const real* z, const real* bias, float* means, kb::Box window,
                     int64_t channels, int64_t slices, int64_t rows, int64_t columns) {
  const int64_t down = rows / window.height, across = columns / window.width;
  const int64_t n = slices / window.depth * down * across;
  z += blockIdx.x * slices * rows * columns;
  float sum = 0;
  for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
    const int64_t d0 = i / across / down * window.depth, h0 = i / across % down * window.height;
    const int64_t w0 = i % across * window.width;
    float max = -INFINITY;
    for (int64_t d = d0; d < d0 + window.depth; ++d) {
      for (int64_t h = h0; h < h0 + window.height; ++h) {
        for (int64_t w = w0; w < w0 + window.width; ++w) {
          const float v = z[(d * rows + h) * columns + w];
          max = kb::Max{}(max, v);
        }
      }
    }
    sum += max;
  }
  sum = kb::combine(kb::Block{}, sum, kb::Sum{});
  const float added = bias[blockIdx.x % channels];
  if (threadIdx.x == 0) means[blockIdx.x] = sum / n + added;
}

void task::launch(const Sizes& s, const real* x, const real* bias, const real* conv_weight,
                  const real* conv_bias, real* y, cudaStream_t stream) {
  const auto shape = kb::conv_shape<3>(s.batch_size, s.in_channels, s.out_channels,
                                       {s.depth, s.height, s.width}, s.kernel_size);
  const int64_t planes = s.batch_size * s.out_channels;
  void* memory = nullptr;
  cudaMallocAsync(&memory, planes * (sizeof(float) + shape.out.product() * sizeof(real)), stream);
  const auto means = static_cast<float*>(memory);
  const auto z = reinterpret_cast<real*>(means + planes);
  const BiasAndDivision finish = {conv_bias, static_cast<float>(s.divisor)};
  kb::launch_conv(stream, shape, x, conv_weight, finish, z);
  const auto& pool_size = s.pool_size;
  pool<<<planes, 256, 0, stream>>>(z, bias, means, {pool_size[0], pool_size[1], pool_size[2]},
                                   s.out_channels, shape.out[0], shape.out[1], shape.out[2]);
  kb::launch_reduce_axis(stream, s.batch_size, s.out_channels, 1, kb::Sum{}, kb::Same{}, y, means);
  cudaFreeAsync(memory, stream);
}
