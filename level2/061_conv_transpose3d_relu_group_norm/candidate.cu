#include "task.h"

#include <kb/conv.cuh>
#include <kb/map.cuh>
#include <kb/moments.cuh>

struct Relu {
  __device__ float operator()(float v, int64_t, int64_t, int64_t) const { return v < 0 ? 0 : v; }
};

// One block per group of `features` times n elements, in place; a sample has `groups`.
__global__ void __launch_bounds__(1024, 2)
    group_norm(kb::real* y, const kb::real* weight, const kb::real* bias, int64_t groups,
               int64_t features, int64_t n) {
  y += blockIdx.x * features * n;
  const kb::Moments m = kb::reduce(kb::Block{}, features * n, kb::OnlineMoments{}, kb::Same{}, y);
  const float scale = 1 / sqrtf(m.variance() + 1e-5f);
  for (int64_t f = 0; f < features; ++f) {
    const int64_t feature = blockIdx.x % groups * features + f;
    const float factor = scale * static_cast<float>(weight[feature]);
    const float offset = static_cast<float>(bias[feature]);
    const auto affine = [=](float v) { return (v - m.mean) * factor + offset; };
    kb::map(kb::Block{}, n, affine, y + f * n, y + f * n);
  }
}

void task::launch(const Sizes& s, const real* x, const real* conv_weight, const real* norm_weight,
                  const real* norm_bias, real* y, cudaStream_t stream) {
  const auto shape = kb::conv_transposed_shape<3>(s.batch_size, s.in_channels, s.out_channels,
                                                  {s.D, s.H, s.W}, s.kernel_size);
  kb::launch_conv_transposed(stream, shape, x, conv_weight, Relu{}, y);
  group_norm<<<s.batch_size * s.groups, 1024, 0, stream>>>(
      y, norm_weight, norm_bias, s.groups, s.out_channels / s.groups, shape.out.product());
}
