#include "task.h"

#include <kb/conv.cuh>

using kb::real;

// Leaky ReLU leaves what ReLU has left.
struct Activations {
  const real *bias, *conv_bias;
  __device__ float operator()(float v, int64_t, int64_t channel, int64_t) const {
    const float first = conv_bias[channel], second = bias[channel];
    v += first;
    v = v < 0 ? 0 : v;
    v = v / 2 * (1 + erff(v * 0.70710678f));
    return 1 / (1 + expf(-v)) + second;
  }
};

void task::launch(const Sizes& s, const real* x, const real* bias, const real* conv_weight,
                  const real* conv_bias, real* y, cudaStream_t stream) {
  const auto shape = kb::conv_shape<3>(s.batch_size, s.in_channels, s.out_channels,
                                       {s.depth, s.height, s.width}, s.kernel_size);
  kb::launch_conv(stream, shape, x, conv_weight, Activations{bias, conv_bias}, y);
}
