#include "task.h"

#include <kb/conv.cuh>
#include <kb/team.cuh>

struct Finish {
  const kb::real *conv_bias, *scale1, *bias, *scale2;
  __device__ float operator()(float v, int64_t, int64_t channel, int64_t) const {
    v = (v + static_cast<float>(conv_bias[channel])) * static_cast<float>(*scale1);
    return (v + static_cast<float>(bias[channel])) * static_cast<float>(*scale2);
  }
};

// Tap u of the pooled kernel is the mean of the kernel's taps 2 * u - margin and the next along
// each dimension, where what is none counts as 0. [channels, taps^3] from [channels, kernel^3].
__global__ void pool_weights(const kb::real* weight, kb::real* pooled, int64_t channels,
                             int64_t kernel, int64_t margin, int64_t taps) {
  const int64_t i = kb::Grid::rank(), channel = i / (taps * taps * taps);
  if (channel >= channels) return;
  weight += channel * kernel * kernel * kernel;
  const int64_t p0 = i / (taps * taps) % taps * 2 - margin, q0 = i / taps % taps * 2 - margin;
  const int64_t r0 = i % taps * 2 - margin;
  float sum = 0;
  for (int64_t p = p0 < 0 ? 0 : p0; p < p0 + 2 && p < kernel; ++p) {
    for (int64_t q = q0 < 0 ? 0 : q0; q < q0 + 2 && q < kernel; ++q) {
      for (int64_t r = r0 < 0 ? 0 : r0; r < r0 + 2 && r < kernel; ++r) {
        sum += static_cast<float>(weight[(p * kernel + q) * kernel + r]);
      }
    }
  }
  pooled[i] = static_cast<kb::real>(sum / 8);
}

// One block per volume of y.
__global__ void average_pool(const kb::real* z, kb::real* y, Finish finish, int64_t channels,
                             kb::Box in) {
  const auto across = static_cast<unsigned>(in.width / 2);
  const auto down = static_cast<unsigned>(in.height / 2);
  const auto windows = static_cast<unsigned>(in.depth / 2) * down * across;
  z += blockIdx.x * in.depth * in.height * in.width;
  y += int64_t{blockIdx.x} * windows;
  for (unsigned i = threadIdx.x; i < windows; i += blockDim.x) {
    const int64_t d = i / across / down * 2, h = i / across % down * 2, w = i % across * 2;
    const kb::real* const first = z + (d * in.height + h) * in.width + w;
    float sum = 0;
    for (int j = 0; j < 8; ++j) {
      sum += static_cast<float>(first[(j / 4 * in.height + j / 2 % 2) * in.width + j % 2]);
    }
    y[i] = static_cast<kb::real>(finish(sum / 8, 0, blockIdx.x % channels, 0));
  }
}

// With an even stride, y is a transposed convolution itself: by the kernel whose taps are means of
// neighbouring ones, with half the stride.
void launch_pooled(const task::Sizes& s, const kb::real* x, const kb::real* conv_weight,
                   Finish finish, kb::real* y, cudaStream_t stream) {
  const int64_t padding = (s.padding + 1) / 2, margin = 2 * padding - s.padding;
  const int64_t taps = (s.kernel_size - 1 + margin) / 2 + 1,
                channels = s.in_channels * s.out_channels;
  auto shape =
      kb::conv_transposed_shape<3>(s.batch_size, s.in_channels, s.out_channels,
                                   {s.depth, s.height, s.width}, taps, s.stride / 2, padding);
  shape.out = {s.pooled(s.depth), s.pooled(s.height), s.pooled(s.width)};
  const int64_t weights = channels * taps * taps * taps;
  void* memory;
  cudaMallocAsync(&memory, sizeof(kb::real) * weights, stream);
  const auto pooled = static_cast<kb::real*>(memory);
  pool_weights<<<(weights + 255) / 256, 256, 0, stream>>>(conv_weight, pooled, channels,
                                                          s.kernel_size, margin, taps);
  kb::launch_conv_transposed(stream, shape, x, pooled, finish, y);
  cudaFreeAsync(memory, stream);
}

void task::launch(const Sizes& s, const real* x, const real* scale1, const real* bias,
                  const real* scale2, const real* conv_weight, const real* conv_bias, real* y,
                  cudaStream_t stream) {
  const Finish finish = {conv_bias, scale1, bias, scale2};
  if (s.stride % 2 == 0) {
    launch_pooled(s, x, conv_weight, finish, y, stream);
    return;
  }
  const auto shape = kb::conv_transposed_shape<3>(s.batch_size, s.in_channels, s.out_channels,
                                                  {s.depth, s.height, s.width}, s.kernel_size,
                                                  s.stride, s.padding);
  const int64_t volumes = s.batch_size * s.out_channels;
  void* memory;
  cudaMallocAsync(&memory, sizeof(real) * volumes * shape.out.product(), stream);
  const auto z = static_cast<real*>(memory);
  kb::launch_conv_transposed(stream, shape, x, conv_weight, kb::AsIs{}, z);
  average_pool<<<volumes, 512, 0, stream>>>(z, y, finish, s.out_channels,
                                            {shape.out[0], shape.out[1], shape.out[2]});
  cudaFreeAsync(memory, stream);
}
