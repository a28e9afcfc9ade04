#include "task.h"

#include <kb/conv.cuh>
#include <kb/team.cuh>

struct ScaleAndActivate {
  const kb::real *conv_bias, *multiplier;
  __device__ float operator()(float v, int64_t, int64_t channel, int64_t) const {
    v = (v + kb::element(conv_bias, channel)) * kb::element(multiplier, channel);
    v = v < 0 ? 0.01f * v : v;
    return v / 2 * (1 + erff(v * 0.70710678f));
  }
};

void task::launch(const Sizes& s, const real* x, const real* multiplier, const real* conv_weight,
                  const real* conv_bias, real* y, cudaStream_t stream) {
  const auto shape = kb::conv_shape<2>(s.batch_size, s.in_channels, s.out_channels,
                                       {s.height, s.width}, s.kernel_size);
  kb::launch_conv(stream, shape, x, conv_weight, ScaleAndActivate{conv_bias, multiplier}, y);
}
