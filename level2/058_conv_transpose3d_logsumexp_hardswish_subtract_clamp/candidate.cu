#include "task.h"

#include <kb/conv.cuh>
#include <kb/reduce.cuh>

// Neighbouring threads have neighbouring pixels.
__global__ void finish(const kb::real* z, const kb::real* bias, kb::real* y, int64_t pixels,
                       int64_t area, int64_t channels) {
  const int64_t pixel = kb::Grid::rank();
  if (pixel >= pixels) return;
  z += pixel / area * channels * area + pixel % area;
  float max = -INFINITY, sum = 0;
#pragma unroll 8
  for (int64_t c = 0; c < channels; ++c) max = kb::Max{}(max, static_cast<float>(z[c * area]));
  if (isinf(max)) max = 0;  // the difference of two infinities would be NaN
#pragma unroll 8
  for (int64_t c = 0; c < channels; ++c) sum += expf(static_cast<float>(z[c * area]) - max);
  const float u = logf(sum) + max, swish = u / (1 + expf(-(u + 3))) / 6;
  y[pixel] = static_cast<kb::real>(kb::clamp(swish - static_cast<float>(*bias), -1, 1));
}

void task::launch(const Sizes& s, const real* x, const real* bias, const real* conv_weight,
                  const real* conv_bias, real* y, cudaStream_t stream) {
  const auto shape = kb::conv_transposed_shape<3>(s.batch_size, s.in_channels, s.out_channels,
                                                  {s.depth, s.height, s.width}, s.kernel_size,
                                                  s.stride, s.padding);
  const int64_t area = shape.out.product(), pixels = s.batch_size * area;
  void* memory;
  cudaMallocAsync(&memory, sizeof(real) * pixels * s.out_channels, stream);
  const auto z = static_cast<real*>(memory);
  kb::launch_conv_transposed(stream, shape, x, conv_weight, kb::AddBias{conv_bias}, z);
  finish<<<(pixels + 255) / 256, 256, 0, stream>>>(z, bias, y, pixels, area, s.out_channels);
  cudaFreeAsync(memory, stream);
}
