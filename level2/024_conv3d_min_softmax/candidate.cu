#include "task.h"

#include <cfloat>

#include <kb/conv.cuh>
#include <kb/reduce.cuh>

using kb::real;

// One thread per pixel of y: the minima of each channel, then their softmax, in place.
__global__ void min_softmax(const real* z, real* y, int64_t batch, int64_t channels, int64_t depth,
                            int64_t area) {
  const int64_t pixel = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (pixel >= batch * area) return;
  z += pixel / area * channels * depth * area + pixel % area;
  y += pixel / area * channels * area + pixel % area;
  float max = -FLT_MAX, sum = 0;
  for (int64_t o = 0; o < channels; ++o) {
    float min = INFINITY;
    for (int64_t d = 0; d < depth; ++d) {
      const float v = z[(o * depth + d) * area];
      min = kb::Min{}(min, v);
    }
    y[o * area] = static_cast<real>(min);
    const float greater = fmaxf(max, min);
    sum = sum * expf(max - greater) + expf(min - greater);
    max = greater;
  }
  for (int64_t o = 0; o < channels; ++o) {
    const float v = y[o * area];
    y[o * area] = static_cast<real>(expf(v - max) / sum);
  }
}

void task::launch(const Sizes& s, const real* x, const real* conv_weight, const real* conv_bias,
                  real* y, cudaStream_t stream) {
  const auto shape = kb::conv_shape<3>(s.batch_size, s.in_channels, s.out_channels, {s.D, s.H, s.W},
                                       s.kernel_size);
  const int64_t area = shape.out[1] * shape.out[2], blocks = (s.batch_size * area + 127) / 128;
  void* memory = nullptr;
  cudaMallocAsync(&memory, s.batch_size * s.out_channels * shape.out.product() * sizeof(real),
                  stream);
  const auto z = static_cast<real*>(memory);
  kb::launch_conv(stream, shape, x, conv_weight, kb::AddBias{conv_bias}, z);
  min_softmax<<<blocks, 128, 0, stream>>>(z, y, s.batch_size, s.out_channels, shape.out[0], area);
  cudaFreeAsync(memory, stream);
}
