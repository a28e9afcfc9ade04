#include "task.h"

#include <kb/axis.cuh>
#include <kb/conv.cuh>
#include <kb/moments.cuh>

using kb::real;

// One warp per sample. The mean of what is normalised follows from the means of the channels.
__global__ void normalise(task::Sizes s, const kb::Moments* channels, const real* weight,
                          const real* bias, real* y) {
  const int64_t size = s.out_channels / s.num_groups;
  channels += blockIdx.x * s.out_channels;
  float sum = 0;
  for (int64_t o = threadIdx.x; o < s.out_channels; o += 32) {
    kb::Moments group = kb::OnlineMoments::identity();
    for (int64_t i = 0; i < size; ++i) {
      group = kb::OnlineMoments{}(group, channels[o / size * size + i]);
    }
    const float factor = weight[o], offset = bias[o];
    sum += (channels[o].mean - group.mean) / sqrtf(group.variance() + 1e-5f) * factor + offset;
  }
  sum = kb::combine(kb::Warp{}, sum, kb::Sum{});
  if (threadIdx.x == 0) y[blockIdx.x] = static_cast<real>(sum / s.out_channels);
}

void task::launch(const Sizes& s, const real* x, const real* conv_weight, const real* conv_bias,
                  const real* norm_weight, const real* norm_bias, real* y, cudaStream_t stream) {
  const auto shape = kb::conv_shape<3>(s.batch_size, s.in_channels, s.out_channels, {s.D, s.H, s.W},
                                       s.kernel_size);
  const int64_t area = shape.out.product(), planes = s.batch_size * s.out_channels;
  void* memory = nullptr;
  cudaMallocAsync(&memory, planes * (sizeof(kb::Moments) + area * sizeof(real)), stream);
  const auto channels = static_cast<kb::Moments*>(memory);
  const auto z = reinterpret_cast<real*>(channels + planes);
  kb::launch_conv(stream, shape, x, conv_weight, kb::AddBias{conv_bias}, z);
  kb::reduce_rows<<<planes, 256, 0, stream>>>(area, kb::OnlineMoments{}, kb::Same{}, channels, z);
  normalise<<<s.batch_size, 32, 0, stream>>>(s, channels, norm_weight, norm_bias, y);
  cudaFreeAsync(memory, stream);
}
