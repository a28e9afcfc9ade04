#include "task.h"

#include <kb/conv.cuh>
#include <kb/map.cuh>
#include <kb/moments.cuh>

using kb::real;

struct BiasGelu {
  const real* bias;
  __device__ float operator()(float v, int64_t, int64_t channel, int64_t) const {
    const float added = bias[channel];
    v += added;
    return v / 2 * (1 + erff(v * 0.70710678f));
  }
};

// The blocks (i, j) measure group i of n elements, each its part j.
__global__ void __launch_bounds__(1024, 2) measure(const real* y, kb::Moments* parts, int64_t n) {
  const kb::OnlineMoments merge;
  const kb::Moments mine = kb::fold(kb::GridColumn{}, n, merge, kb::Same{}, y + blockIdx.x * n);
  const kb::Moments m = kb::combine(kb::Block{}, mine, merge);
  if (threadIdx.x == 0) parts[int64_t{blockIdx.x} * gridDim.y + blockIdx.y] = m;
}

// The blocks (i, j) normalise channel i % out_channels of a sample in place.
__global__ void __launch_bounds__(1024, 2)
    normalise(task::Sizes s, const real* weight, const real* bias, const kb::Moments* parts,
              int count, real* y, int64_t area) {
  const kb::OnlineMoments merge;
  parts += blockIdx.x / (s.out_channels / s.num_groups) * count;
  const kb::Moments part = threadIdx.x < count ? parts[threadIdx.x] : merge.identity();
  const kb::Moments m = kb::combine(kb::Block{}, part, merge);
  const float factor = weight[blockIdx.x % s.out_channels];
  const float offset = bias[blockIdx.x % s.out_channels];
  const float scale = factor / sqrtf(m.variance() + 1e-5f);
  const auto f = [=](float v) { return (v - m.mean) * scale + offset; };
  y += blockIdx.x * area;
  kb::map(kb::GridColumn{}, area, f, y, y);
}

void task::launch(const Sizes& s, const real* x, const real* conv_weight, const real* conv_bias,
                  const real* norm_weight, const real* norm_bias, real* y, cudaStream_t stream) {
  const auto shape = kb::conv_transposed_shape<2>(s.batch_size, s.in_channels, s.out_channels,
                                                  {s.height, s.width}, s.kernel_size, s.stride);
  kb::launch_conv_transposed(stream, shape, x, conv_weight, BiasGelu{conv_bias}, y);
  const int64_t area = shape.out.product(), n = s.out_channels / s.num_groups * area;
  const auto blocks = [](int64_t elements) {
    return static_cast<unsigned>(elements < 1024 * 16384 ? (elements + 16383) / 16384 : 1024);
  };
  const dim3 groups(s.batch_size * s.num_groups, blocks(n));
  const dim3 planes(s.batch_size * s.out_channels, blocks(area));
  void* memory = nullptr;
  cudaMallocAsync(&memory, sizeof(kb::Moments) * groups.x * groups.y, stream);
  const auto parts = static_cast<kb::Moments*>(memory);
  measure<<<groups, 1024, 0, stream>>>(y, parts, n);
  normalise<<<planes, 1024, 0, stream>>>(s, norm_weight, norm_bias, parts, groups.y, y, area);
  cudaFreeAsync(memory, stream);
}
