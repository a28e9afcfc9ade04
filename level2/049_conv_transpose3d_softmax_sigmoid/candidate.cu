#include "task.h"

#include <kb/conv.cuh>
#include <kb/reduce.cuh>

// Softmax over the channels of each pixel, then sigmoid, in place. Neighbouring threads have
// neighbouring pixels.
__global__ void softmax_sigmoid(kb::real* y, int64_t pixels, int64_t area, int64_t channels) {
  const int64_t pixel = kb::Grid::rank();
  if (pixel >= pixels) return;
  y += pixel / area * channels * area + pixel % area;
  float max = -INFINITY, sum = 0;
#pragma unroll 8
  for (int64_t c = 0; c < channels; ++c) max = kb::Max{}(max, static_cast<float>(y[c * area]));
#pragma unroll 8
  for (int64_t c = 0; c < channels; ++c) sum += expf(static_cast<float>(y[c * area]) - max);
  const float factor = 1 / sum;
#pragma unroll 8
  for (int64_t c = 0; c < channels; ++c) {
    const float share = expf(static_cast<float>(y[c * area]) - max) * factor;
    y[c * area] = static_cast<kb::real>(1 / (1 + expf(-share)));
  }
}

void task::launch(const Sizes& s, const real* x, const real* conv_weight, const real* conv_bias,
                  real* y, cudaStream_t stream) {
  const auto shape =
      kb::conv_transposed_shape<3>(s.batch_size, s.in_channels, s.out_channels, {s.D, s.H, s.W},
                                   s.kernel_size, s.stride, s.padding, s.output_padding);
  kb::launch_conv_transposed(stream, shape, x, conv_weight, kb::AddBias{conv_bias}, y);
  const int64_t area = shape.out.product(), pixels = s.batch_size * area;
  softmax_sigmoid<<<(pixels + 255) / 256, 256, 0, stream>>>(y, pixels, area, s.out_channels);
}
