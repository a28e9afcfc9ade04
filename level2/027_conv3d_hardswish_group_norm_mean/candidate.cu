#include "task.h"

#include <kb/axis.cuh>
#include <kb/conv.cuh>
#include <kb/moments.cuh>

using kb::real;

struct BiasHardSwish {
  const real* bias;
  __device__ float operator()(float v, int64_t, int64_t channel, int64_t) const {
    const float added = bias[channel];
    v += added;
    return v * kb::clamp(v + 3, 0, 6) / 6;
  }
};

// One thread per element of y. The mean of what is normalised is the mean, normalised.
__global__ void normalise(task::Sizes s, const kb::Moments* channels, const real* weight,
                          const real* bias, real* y) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x, o = i % s.out_channels;
  if (i >= s.batch_size * s.out_channels) return;
  const int64_t size = s.out_channels / s.num_groups;
  kb::Moments group = kb::OnlineMoments::identity();
  for (int64_t j = 0; j < size; ++j) {
    group = kb::OnlineMoments{}(group, channels[i - o % size + j]);
  }
  const float factor = weight[o], offset = bias[o];
  const float mean = (channels[i].mean - group.mean) / sqrtf(group.variance() + 1e-5f);
  y[i] = static_cast<real>(mean * factor + offset);
}

void task::launch(const Sizes& s, const real* x, const real* conv_weight, const real* conv_bias,
                  const real* norm_weight, const real* norm_bias, real* y, cudaStream_t stream) {
  const auto shape = kb::conv_shape<3>(s.batch_size, s.in_channels, s.out_channels,
                                       {s.depth, s.height, s.width}, s.kernel_size);
  const int64_t area = shape.out.product(), planes = s.batch_size * s.out_channels;
  void* memory = nullptr;
  cudaMallocAsync(&memory, planes * (sizeof(kb::Moments) + area * sizeof(real)), stream);
  const auto channels = static_cast<kb::Moments*>(memory);
  const auto z = reinterpret_cast<real*>(channels + planes);
  kb::launch_conv(stream, shape, x, conv_weight, BiasHardSwish{conv_bias}, z);
  kb::reduce_rows<<<planes, 256, 0, stream>>>(area, kb::OnlineMoments{}, kb::Same{}, channels, z);
  normalise<<<(planes + 255) / 256, 256, 0, stream>>>(s, channels, norm_weight, norm_bias, y);
  cudaFreeAsync(memory, stream);
}
