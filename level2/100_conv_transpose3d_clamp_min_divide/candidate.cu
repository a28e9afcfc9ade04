#include "task.h"

#include <kb/conv.cuh>

struct BoundAndDivide {
  const kb::real* bias;
  float min_value, divisor;
  __device__ float operator()(float v, int64_t, int64_t channel, int64_t) const {
    v += static_cast<float>(bias[channel]);
    return (v < min_value ? min_value : v) / divisor;
  }
};

void task::launch(const Sizes& s, const real* x, const real* conv_weight, const real* conv_bias,
                  real* y, cudaStream_t stream) {
  const auto shape = kb::conv_transposed_shape<3>(s.batch_size, s.in_channels, s.out_channels,
                                                  {s.depth, s.height, s.width}, s.kernel_size,
                                                  s.stride, s.padding);
  const BoundAndDivide finish = {conv_bias, static_cast<float>(s.min_value),
                                 static_cast<float>(s.divisor)};
  kb::launch_conv_transposed(stream, shape, x, conv_weight, finish, y);
}
