#include "task.h"

#include <kb/conv.cuh>
#include <kb/map.cuh>
#include <kb/moments.cuh>

// One block per channel of a sample, in place; n elements in each: minus the mean of these
// elements, divided by the deviation of the channel over all samples.
__global__ void __launch_bounds__(1024, 2)
    normalise(kb::real* y, const kb::real* weight, const kb::Moments* parts, int64_t samples,
              int64_t channels, int64_t n) {
  const int64_t channel = blockIdx.x % channels;
  const kb::OnlineMoments merge;
  kb::Moments m = merge.identity();
  for (int64_t sample = threadIdx.x; sample < samples; sample += blockDim.x) {
    m = merge(m, parts[sample * channels + channel]);
  }
  m = kb::combine(kb::Block{}, m, merge);
  const float scale = static_cast<float>(weight[channel]) / sqrtf(m.variance() + 1e-5f);
  const float mean = parts[blockIdx.x].mean;
  y += blockIdx.x * n;
  kb::map(
      kb::Block{}, n, [=](float v) { return (v - mean) * scale; }, y, y);
}

// Subtracting the mean takes away what is added to a whole channel: both biases.
void task::launch(const Sizes& s, const real* x, const real* conv_weight, const real*,
                  const real* norm_weight, const real*, real* y, cudaStream_t stream) {
  const auto shape = kb::conv_transposed_shape<3>(s.batch_size, s.in_channels, s.out_channels,
                                                  {s.depth, s.height, s.width}, s.kernel_size,
                                                  s.stride, s.padding);
  kb::launch_conv_transposed(stream, shape, x, conv_weight, kb::AsIs{}, y);
  const int64_t blocks = s.batch_size * s.out_channels, n = shape.out.product();
  void* memory;
  cudaMallocAsync(&memory, sizeof(kb::Moments) * blocks, stream);
  const auto parts = static_cast<kb::Moments*>(memory);
  kb::launch_moments(stream, blocks, n, parts, y);
  normalise<<<blocks, 1024, 0, stream>>>(y, norm_weight, parts, s.batch_size, s.out_channels, n);
  cudaFreeAsync(memory, stream);
}
