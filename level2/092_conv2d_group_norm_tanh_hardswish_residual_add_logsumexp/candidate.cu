#include "task.h"

#include <cfloat>

#include <kb/conv.cuh>
#include <kb/moments.cuh>

// One thread per element of y, which is [batch_size, area].
__global__ void logsumexp(task::Sizes s, int64_t area, const kb::real* v,
                          const kb::Moments* moments, const kb::real* weight, const kb::real* bias,
                          kb::real* y) {
  const int64_t i = kb::Grid::rank(), sample = i / area, channels = s.out_channels / s.groups;
  if (sample >= s.batch_size) return;
  v += sample * s.out_channels * area + i % area;
  float max = -FLT_MAX, sum = 0;  // of exp(value - max)
  for (int64_t group = 0; group < s.groups; ++group) {
    const kb::Moments m = moments[sample * s.groups + group];
    const float reciprocal = 1 / sqrtf(m.variance() + 1e-5f);
    for (int64_t channel = group * channels; channel < (group + 1) * channels; ++channel) {
      const float value = kb::element(v, channel * area),
                  factor = reciprocal * kb::element(weight, channel);
      const float u = tanhf((value - m.mean) * factor + kb::element(bias, channel));
      // HardSwish without its bounds, since |u| <= 1.
      const float w = value + u * (u + 3) / 6, before = max;
      max = fmaxf(before, w);
      sum = sum * expf(before - max) + expf(w - max);
    }
  }
  y[i] = static_cast<kb::real>(max + logf(sum));
}

void task::launch(const Sizes& s, const real* x, const real* conv_weight, const real* conv_bias,
                  const real* group_norm_weight, const real* group_norm_bias, real* y,
                  cudaStream_t stream) {
  const auto shape = kb::conv_shape<2>(s.batch_size, s.in_channels, s.out_channels,
                                       {s.height, s.width}, s.kernel_size);
  const int64_t area = shape.out.product(), pixels = s.batch_size * area,
                groups = s.batch_size * s.groups;
  void *memory, *measured;
  cudaMallocAsync(&memory, pixels * s.out_channels * sizeof(real), stream);
  cudaMallocAsync(&measured, groups * sizeof(kb::Moments), stream);
  const auto v = static_cast<real*>(memory);
  const auto moments = static_cast<kb::Moments*>(measured);
  kb::launch_conv(stream, shape, x, conv_weight, kb::AddBias{conv_bias}, v);
  kb::launch_moments(stream, groups, s.out_channels / s.groups * area, moments, v);
  logsumexp<<<(pixels + 255) / 256, 256, 0, stream>>>(s, area, v, moments, group_norm_weight,
                                                      group_norm_bias, y);
  cudaFreeAsync(memory, stream);
  cudaFreeAsync(measured, stream);
}
