#include "task.h"

#include <kb/conv.cuh>
#include <kb/map.cuh>
#include <kb/reduce.cuh>

struct BiasAndClamp {
  const kb::real* bias;
  float low, high;
  __device__ float operator()(float v, int64_t, int64_t channel, int64_t) const {
    return kb::clamp(v + static_cast<float>(bias[channel]), low, high);
  }
};

// Means of windows; one block per volume.
__global__ void average_pool(const kb::real* x, kb::real* pooled, kb::Box in, int64_t side) {
  const auto across = static_cast<unsigned>(in.width / side);
  const auto down = static_cast<unsigned>(in.height / side);
  const auto windows = static_cast<unsigned>(in.depth / side) * down * across;
  x += blockIdx.x * in.depth * in.height * in.width;
  pooled += int64_t{blockIdx.x} * windows;
  for (unsigned i = threadIdx.x; i < windows; i += blockDim.x) {
    const int64_t d0 = i / across / down * side, h0 = i / across % down * side;
    const int64_t w0 = i % across * side;
    float sum = 0;
    for (int64_t d = d0; d < d0 + side; ++d) {
      for (int64_t h = h0; h < h0 + side; ++h) {
        const kb::real* const row = x + (d * in.height + h) * in.width + w0;
        for (int64_t w = 0; w < side; ++w) sum += static_cast<float>(row[w]);
      }
    }
    pooled[i] = static_cast<kb::real>(sum / (side * side * side));
  }
}

// One block per channel of a sample, in place; n elements in each.
__global__ void __launch_bounds__(1024, 2)
    softmax(kb::real* y, const kb::real* scale, int64_t channels, int64_t n) {
  y += blockIdx.x * n;
  const float max = kb::reduce(kb::Block{}, n, kb::Max{}, kb::Same{}, y);
  const auto exponential = [=](float v) { return expf(v - max); };
  const float sum = kb::reduce(kb::Block{}, n, kb::Sum{}, exponential, y);
  const float factor = static_cast<float>(scale[blockIdx.x % channels]) / sum;
  kb::map(
      kb::Block{}, n, [=](float v) { return expf(v - max) * factor; }, y, y);
}

void task::launch(const Sizes& s, const real* x, const real* scale, const real* conv_weight,
                  const real* conv_bias, real* y, cudaStream_t stream) {
  const kb::Extent<3> pooled = {s.pooled(s.depth), s.pooled(s.height), s.pooled(s.width)};
  const auto shape =
      kb::conv_transposed_shape<3>(s.batch_size, s.in_channels, s.out_channels, pooled,
                                   s.kernel_size, s.stride, s.padding, s.output_padding);
  const int64_t volumes = s.batch_size * s.in_channels;
  void* memory;
  cudaMallocAsync(&memory, sizeof(real) * volumes * pooled.product(), stream);
  const auto v = static_cast<real*>(memory);
  const kb::Box in = {s.depth, s.height, s.width};
  average_pool<<<volumes, 512, 0, stream>>>(x, v, in, s.pool_kernel_size);
  const BiasAndClamp clamp = {conv_bias, static_cast<float>(s.clamp_min),
                              static_cast<float>(s.clamp_max)};
  kb::launch_conv_transposed(stream, shape, v, conv_weight, clamp, y);
  softmax<<<s.batch_size * s.out_channels, 1024, 0, stream>>>(y, scale, s.out_channels,
                                                              shape.out.product());
  cudaFreeAsync(memory, stream);
}
