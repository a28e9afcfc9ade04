#include "task.h"

#include <kb/conv.cuh>
#include <kb/team.cuh>

// v * tanh(log(1 + e)) with e = exp(v), which would overflow where the factor is 1 anyway.
__device__ static float mish(float v) {
  const float e = expf(v), n = e * (e + 2);
  return v > 20 ? v : v * (n / (n + 2));
}

struct SubtractAndMish {
  const kb::real* conv_bias;
  float first, second;
  __device__ float operator()(float v, int64_t, int64_t channel, int64_t) const {
    return mish(v + kb::element(conv_bias, channel) - first - second);
  }
};

void task::launch(const Sizes& s, const real* x, const real* conv_weight, const real* conv_bias,
                  real* y, cudaStream_t stream) {
  const auto shape = kb::conv_shape<2>(s.batch_size, s.in_channels, s.out_channels,
                                       {s.height, s.width}, s.kernel_size);
  kb::launch_conv(stream, shape, x, conv_weight,
                  SubtractAndMish{conv_bias, static_cast<float>(s.subtract_value_1),
                                  static_cast<float>(s.subtract_value_2)},
                  y);
}
