#include "task.h"

#include <kb/conv.cuh>
#include <kb/moments.cuh>

// One block per group of channels of a sample reads their n pixels twice: for the moments, then for
// the maxima of windows.
__global__ void __launch_bounds__(1024, 2)
    normalise_and_pool(task::Sizes s, const kb::real* v, const kb::real* weight,
                       const kb::real* bias, const kb::real* scale, kb::real* y) {
  const int64_t width = s.width - s.kernel_size + 1, n = (s.height - s.kernel_size + 1) * width;
  const int64_t k = s.maxpool_kernel_size, columns = width / k,
                windows = (s.height - s.kernel_size + 1) / k * columns;
  const int64_t channels = s.out_channels / s.num_groups;
  const auto low = static_cast<float>(s.clamp_min), high = static_cast<float>(s.clamp_max);
  v += blockIdx.x * channels * n;
  y += blockIdx.x * channels * windows;
  const kb::Moments m = kb::reduce(kb::Block{}, channels * n, kb::OnlineMoments{}, kb::Same{}, v);
  const float reciprocal = 1 / sqrtf(m.variance() + 1e-5f);
  for (int64_t i = threadIdx.x; i < channels * windows; i += blockDim.x) {
    const int64_t c = i / windows, window = i % windows;
    const int64_t channel = blockIdx.x % s.num_groups * channels + c;
    const float factor = reciprocal * kb::element(weight, channel),
                offset = kb::element(bias, channel), scaled = kb::element(scale, channel);
    const kb::real* from = v + c * n + (window / columns * width + window % columns) * k;
    float max = -INFINITY;
    for (int64_t p = 0; p < k; ++p) {
      for (int64_t q = 0; q < k; ++q) {
        max = kb::Max{}(max,
                        ((kb::element(from, p * width + q) - m.mean) * factor + offset) * scaled);
      }
    }
    y[i] = static_cast<kb::real>(kb::clamp(max, low, high));
  }
}

void task::launch(const Sizes& s, const real* x, const real* scale, const real* conv_weight,
                  const real* conv_bias, const real* group_norm_weight, const real* group_norm_bias,
                  real* y, cudaStream_t stream) {
  const auto shape = kb::conv_shape<2>(s.batch_size, s.in_channels, s.out_channels,
                                       {s.height, s.width}, s.kernel_size);
  void* memory;
  cudaMallocAsync(&memory, s.batch_size * s.out_channels * shape.out.product() * sizeof(real),
                  stream);
  const auto v = static_cast<real*>(memory);
  kb::launch_conv(stream, shape, x, conv_weight, kb::AddBias{conv_bias}, v);
  normalise_and_pool<<<s.batch_size * s.num_groups, 1024, 0, stream>>>(s, v, group_norm_weight,
                                                                       group_norm_bias, scale, y);
  cudaFreeAsync(memory, stream);
}
