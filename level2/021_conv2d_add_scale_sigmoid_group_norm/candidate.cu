#include "task.h"

#include <kb/conv.cuh>
#include <kb/map.cuh>
#include <kb/moments.cuh>

struct Sigmoid {
  const kb::real *conv_bias, *bias, *scale;
  __device__ float operator()(float v, int64_t, int64_t channel, int64_t) const {
    v += kb::element(conv_bias, channel) + kb::element(bias, channel);
    return 1 / (1 + expf(-v * kb::element(scale, channel)));
  }
};

// One block per group of `channels` times n elements of y; a sample has `groups`.
__global__ void __launch_bounds__(1024, 2)
    group_norm(const kb::real* weight, const kb::real* bias, kb::real* y, int64_t groups,
               int64_t channels, int64_t n) {
  y += blockIdx.x * channels * n;
  const kb::Moments m = kb::reduce(kb::Block{}, channels * n, kb::OnlineMoments{}, kb::Same{}, y);
  const float scale = 1 / sqrtf(m.variance() + 1e-5f);
  for (int64_t c = 0; c < channels; ++c) {
    const int64_t channel = blockIdx.x % groups * channels + c;
    const float factor = scale * kb::element(weight, channel), offset = kb::element(bias, channel);
    kb::map(
        kb::Block{}, n, [=](float v) { return (v - m.mean) * factor + offset; }, y + c * n,
        y + c * n);
  }
}

void task::launch(const Sizes& s, const real* x, const real* bias, const real* scale,
                  const real* conv_weight, const real* conv_bias, const real* group_norm_weight,
                  const real* group_norm_bias, real* y, cudaStream_t stream) {
  const auto shape = kb::conv_shape<2>(s.batch_size, s.in_channels, s.out_channels,
                                       {s.height, s.width}, s.kernel_size);
  kb::launch_conv(stream, shape, x, conv_weight, Sigmoid{conv_bias, bias, scale}, y);
  group_norm<<<s.batch_size * s.num_groups, 1024, 0, stream>>>(
      group_norm_weight, group_norm_bias, y, s.num_groups, s.out_channels / s.num_groups,
      shape.out.product());
}
