#include "task.h"

#include <cfloat>

#include <kb/conv.cuh>

using kb::real;

// One thread per pixel of y, in place.
__global__ void softmax_sigmoid(real* y, const real* bias, int64_t batch, int64_t channels,
                                int64_t area, float factor) {
  const int64_t pixel = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (pixel >= batch * area) return;
  y += pixel / area * channels * area + pixel % area;
  float max = -FLT_MAX, sum = 0;
  for (int64_t o = 0; o < channels; ++o) {
    const float v = y[o * area];
    const float greater = fmaxf(max, v);
    sum = sum * expf(max - greater) + expf(v - greater);
    max = greater;
  }
  for (int64_t o = 0; o < channels; ++o) {
    const float v = y[o * area], added = bias[o];
    const float share = expf(v - max) / sum;
    y[o * area] = static_cast<real>(1 / (1 + expf(-(share + added) * factor)));
  }
}

void task::launch(const Sizes& s, const real* x, const real* bias, const real* conv_weight,
                  const real* conv_bias, real* y, cudaStream_t stream) {
  const auto shape =
      kb::conv_transposed_shape<2>(s.batch_size, s.in_channels, s.out_channels, {s.height, s.width},
                                   s.kernel_size, s.stride, s.padding, s.output_padding);
  const int64_t area = shape.out.product(), blocks = (s.batch_size * area + 255) / 256;
  kb::launch_conv_transposed(stream, shape, x, conv_weight, kb::AddBias{conv_bias}, y);
  softmax_sigmoid<<<blocks, 256, 0, stream>>>(y, bias, s.batch_size, s.out_channels, area,
                                              static_cast<float>(s.scaling_factor));
}
