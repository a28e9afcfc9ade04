#include "task.h"

#include <kb/conv.cuh>
#include <kb/map.cuh>
#include <kb/moments.cuh>

// v * tanh(log(1 + e)) with e = exp(v), which would overflow where the factor is 1 anyway.
__device__ static float mish(float v) {
  const float e = expf(v), n = e * (e + 2);
  return v > 20 ? v : v * (n / (n + 2));
}

struct Mish {
  const kb::real* conv_bias;
  __device__ float operator()(float v, int64_t, int64_t channel, int64_t) const {
    return mish(v + kb::element(conv_bias, channel));
  }
};

// Block (i, j) measures channel i in sample j and every gridDim.y-th after it; n elements in each.
__global__ void __launch_bounds__(1024, 2)
    measure(const kb::real* y, kb::Moments* parts, int64_t samples, int64_t n) {
  const kb::OnlineMoments merge;
  kb::Moments m = merge.identity();
  for (int64_t sample = blockIdx.y; sample < samples; sample += gridDim.y) {
    const kb::real* values = y + (sample * gridDim.x + blockIdx.x) * n;
    m = merge(m, kb::fold(kb::Block{}, n, merge, kb::Same{}, values));
  }
  m = kb::combine(kb::Block{}, m, merge);
  if (threadIdx.x == 0) parts[int64_t{blockIdx.x} * gridDim.y + blockIdx.y] = m;
}

// Block (i, j) normalises the same elements.
__global__ void __launch_bounds__(1024, 2)
    normalise(const kb::real* weight, const kb::real* bias, const kb::Moments* parts, kb::real* y,
              int64_t samples, int64_t n) {
  const kb::OnlineMoments merge;
  parts += int64_t{blockIdx.x} * gridDim.y;
  const kb::Moments part = threadIdx.x < gridDim.y ? parts[threadIdx.x] : merge.identity();
  const kb::Moments m = kb::combine(kb::Block{}, part, merge);
  const float scale = kb::element(weight, blockIdx.x) / sqrtf(m.variance() + 1e-5f);
  const float offset = kb::element(bias, blockIdx.x);
  for (int64_t sample = blockIdx.y; sample < samples; sample += gridDim.y) {
    kb::real* values = y + (sample * gridDim.x + blockIdx.x) * n;
    kb::map(
        kb::Block{}, n, [=](float v) { return (v - m.mean) * scale + offset; }, values, values);
  }
}

void task::launch(const Sizes& s, const real* x, const real* conv_weight, const real* conv_bias,
                  const real* bn_weight, const real* bn_bias, real* y, cudaStream_t stream) {
  const auto shape = kb::conv_shape<2>(s.batch_size, s.in_channels, s.out_channels,
                                       {s.height, s.width}, s.kernel_size);
  kb::launch_conv(stream, shape, x, conv_weight, Mish{conv_bias}, y);
  const int64_t n = shape.out.product();
  const dim3 grid(s.out_channels, s.batch_size < 1024 ? s.batch_size : 1024);
  void* memory;
  cudaMallocAsync(&memory, sizeof(kb::Moments) * grid.x * grid.y, stream);
  const auto parts = static_cast<kb::Moments*>(memory);
  measure<<<grid, 1024, 0, stream>>>(y, parts, s.batch_size, n);
  normalise<<<grid, 1024, 0, stream>>>(bn_weight, bn_bias, parts, y, s.batch_size, n);
  cudaFreeAsync(memory, stream);
}
