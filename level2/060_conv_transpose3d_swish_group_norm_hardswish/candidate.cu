#include "task.h"

#include <kb/conv.cuh>
#include <kb/map.cuh>
#include <kb/moments.cuh>

struct BiasAndSwish {
  const kb::real* bias;
  __device__ float operator()(float v, int64_t, int64_t channel, int64_t) const {
    v += static_cast<float>(bias[channel]);
    return v / (1 + expf(-v));
  }
};

// One block per group of `features` times n elements, in place; a sample has `groups`.
__global__ void __launch_bounds__(1024, 2)
    group_norm(kb::real* y, const kb::real* weight, const kb::real* bias, float eps, int64_t groups,
               int64_t features, int64_t n) {
  y += blockIdx.x * features * n;
  const kb::Moments m = kb::reduce(kb::Block{}, features * n, kb::OnlineMoments{}, kb::Same{}, y);
  const float scale = 1 / sqrtf(m.variance() + eps);
  for (int64_t f = 0; f < features; ++f) {
    const int64_t feature = blockIdx.x % groups * features + f;
    const float factor = scale * static_cast<float>(weight[feature]);
    const float offset = static_cast<float>(bias[feature]);
    const auto finish = [=](float v) {
      v = (v - m.mean) * factor + offset;
      return v * kb::clamp(v + 3, 0, 6) / 6;
    };
    kb::map(kb::Block{}, n, finish, y + f * n, y + f * n);
  }
}

void task::launch(const Sizes& s, const real* x, const real* conv_weight, const real* conv_bias,
                  const real* norm_weight, const real* norm_bias, real* y, cudaStream_t stream) {
  const auto shape = kb::conv_transposed_shape<3>(s.batch_size, s.in_channels, s.out_channels,
                                                  {s.depth, s.height, s.width}, s.kernel_size,
                                                  s.stride, s.padding);
  kb::launch_conv_transposed(stream, shape, x, conv_weight, BiasAndSwish{conv_bias}, y);
  group_norm<<<s.batch_size * s.groups, 1024, 0, stream>>>(
      y, norm_weight, norm_bias, static_cast<float>(s.eps), s.groups, s.out_channels / s.groups,
      shape.out.product());
}
