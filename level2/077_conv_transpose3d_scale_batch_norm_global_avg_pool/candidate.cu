#include "task.h"

#include <kb/conv.cuh>
#include <kb/moments.cuh>

// One block per channel. The mean of normalised elements is the normalised mean.
__global__ void normalise(const kb::Moments* parts, const kb::real* weight, const kb::real* bias,
                          kb::real* y, int64_t samples, float factor) {
  const int64_t channel = blockIdx.x, channels = gridDim.x;
  const kb::OnlineMoments merge;
  kb::Moments m = merge.identity();
  for (int64_t sample = threadIdx.x; sample < samples; sample += blockDim.x) {
    m = merge(m, parts[sample * channels + channel]);
  }
  m = kb::combine(kb::Block{}, m, merge);
  const float scale = factor / sqrtf(factor * factor * m.variance() + 1e-5f);
  const float w = static_cast<float>(weight[channel]), b = static_cast<float>(bias[channel]);
  for (int64_t sample = threadIdx.x; sample < samples; sample += blockDim.x) {
    const int64_t i = sample * channels + channel;
    y[i] = static_cast<kb::real>((parts[i].mean - m.mean) * scale * w + b);
  }
}

// The normalisation takes away what is added to a whole channel: conv_bias.
void task::launch(const Sizes& s, const real* x, const real* conv_weight, const real*,
                  const real* norm_weight, const real* norm_bias, real* y, cudaStream_t stream) {
  const auto shape = kb::conv_transposed_shape<3>(s.batch_size, s.in_channels, s.out_channels,
                                                  {s.depth, s.height, s.width}, s.kernel_size);
  const int64_t blocks = s.batch_size * s.out_channels, n = shape.out.product();
  void* memory;
  cudaMallocAsync(&memory, sizeof(kb::Moments) * blocks + sizeof(real) * blocks * n, stream);
  const auto parts = static_cast<kb::Moments*>(memory);
  const auto z = reinterpret_cast<real*>(parts + blocks);
  kb::launch_conv_transposed(stream, shape, x, conv_weight, kb::AsIs{}, z);
  kb::launch_moments(stream, blocks, n, parts, z);
  normalise<<<s.out_channels, 256, 0, stream>>>(parts, norm_weight, norm_bias, y, s.batch_size,
                                                static_cast<float>(s.scale_factor));
  cudaFreeAsync(memory, stream);
}
