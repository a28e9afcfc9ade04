#include "task.h"

#include <kb/axis.cuh>
#include <kb/conv.cuh>
#include <kb/moments.cuh>

using kb::real;

struct BiasAndFactor {
  const real *bias, *factor;
  __device__ float operator()(float v, int64_t, int64_t channel, int64_t) const {
    const float added = bias[channel], by = factor[channel];
    return (v + added) * by;
  }
};

// One thread per element of y.
__global__ void normalise(task::Sizes s, const real* z, const kb::Moments* channels,
                          const real* factor, real* y, int64_t area) {
  const int64_t pixel = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (pixel >= s.batch_size * area) return;
  const auto low = static_cast<float>(s.clamp_min), high = static_cast<float>(s.clamp_max);
  channels += pixel / area * s.out_channels;
  z += pixel / area * s.out_channels * area + pixel % area;
  float max = -INFINITY;
  for (int64_t o = 0; o < s.out_channels; ++o) {
    const kb::Moments m = channels[o];
    const float v = z[o * area], by = factor[o];
    const float normalised = (v - m.mean) / sqrtf(m.variance() + 1e-5f);
    max = kb::Max{}(max, kb::clamp(normalised, low, high) * by);
  }
  y[pixel] = static_cast<real>(max);
}

void task::launch(const Sizes& s, const real* x, const real* multiplier, const real* conv_weight,
                  const real* conv_bias, real* y, cudaStream_t stream) {
  const auto shape = kb::conv_shape<3>(s.batch_size, s.in_channels, s.out_channels,
                                       {s.depth, s.height, s.width}, s.kernel_size);
  const int64_t area = shape.out.product(), planes = s.batch_size * s.out_channels;
  void* memory = nullptr;
  cudaMallocAsync(&memory, planes * (sizeof(kb::Moments) + area * sizeof(real)), stream);
  const auto channels = static_cast<kb::Moments*>(memory);
  const auto z = reinterpret_cast<real*>(channels + planes);
  kb::launch_conv(stream, shape, x, conv_weight, BiasAndFactor{conv_bias, multiplier}, z);
  kb::reduce_rows<<<planes, 256, 0, stream>>>(area, kb::OnlineMoments{}, kb::Same{}, channels, z);
  normalise<<<(s.batch_size * area + 255) / 256, 256, 0, stream>>>(s, z, channels, multiplier, y,
                                                                   area);
  cudaFreeAsync(memory, stream);
}
