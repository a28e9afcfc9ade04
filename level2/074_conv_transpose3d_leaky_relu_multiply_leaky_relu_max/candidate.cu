#include "task.h"

#include <kb/conv.cuh>
#include <kb/reduce.cuh>

struct LeakyTwice {
  const kb::real *bias, *multiplier;
  __device__ static float leaky(float v) { return v > 0 ? v : 0.2f * v; }
  __device__ float operator()(float v, int64_t, int64_t channel, int64_t) const {
    v = leaky(v + static_cast<float>(bias[channel]));
    return leaky(v * static_cast<float>(multiplier[channel]));
  }
};

// Maxima of windows of 2 x 2 x 2; one block per volume.
__global__ void max_pool(const kb::real* z, kb::real* y, kb::Box in) {
  const auto across = static_cast<unsigned>(in.width / 2);
  const auto down = static_cast<unsigned>(in.height / 2);
  const auto windows = static_cast<unsigned>(in.depth / 2) * down * across;
  z += blockIdx.x * in.depth * in.height * in.width;
  y += int64_t{blockIdx.x} * windows;
  for (unsigned i = threadIdx.x; i < windows; i += blockDim.x) {
    const int64_t d = i / across / down * 2, h = i / across % down * 2, w = i % across * 2;
    const kb::real* const first = z + (d * in.height + h) * in.width + w;
    float values[8];
    for (int j = 0; j < 8; ++j) {
      values[j] = static_cast<float>(first[(j / 4 * in.height + j / 2 % 2) * in.width + j % 2]);
    }
    y[i] = static_cast<kb::real>(kb::reduce_values(kb::Max{}, values));
  }
}

void task::launch(const Sizes& s, const real* x, const real* multiplier, const real* conv_weight,
                  const real* conv_bias, real* y, cudaStream_t stream) {
  const auto shape = kb::conv_transposed_shape<3>(s.batch_size, s.in_channels, s.out_channels,
                                                  {s.depth, s.height, s.width}, s.kernel_size,
                                                  s.stride, s.padding, s.output_padding);
  const int64_t volumes = s.batch_size * s.out_channels;
  void* memory;
  cudaMallocAsync(&memory, sizeof(real) * volumes * shape.out.product(), stream);
  const auto z = static_cast<real*>(memory);
  kb::launch_conv_transposed(stream, shape, x, conv_weight, LeakyTwice{conv_bias, multiplier}, z);
  max_pool<<<volumes, 512, 0, stream>>>(z, y, {shape.out[0], shape.out[1], shape.out[2]});
  cudaFreeAsync(memory, stream);
}
