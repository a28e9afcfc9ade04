#include "task.h"

#include <kb/map.cuh>
#include <kb/moments.cuh>
#include <kb/product.cuh>

// In Mish, tanh(log(1 + e)) is (e^2 + 2 e) / (e^2 + 2 e + 2).
struct AddHardtanhMish {
  const kb::real *gemm_bias, *bias;
  __device__ float operator()(float v, int64_t, int64_t, int64_t feature) const {
    v += static_cast<float>(gemm_bias[feature]) + static_cast<float>(bias[feature]);
    v = kb::clamp(v, -1, 1);
    const float e = expf(v), w = e * (e + 2);
    return v * (w / (w + 2));
  }
};

// y holds what is to be normalised. One warp per group of a sample.
__global__ void normalise(int64_t samples, int64_t groups, int64_t n, const kb::real* weight,
                          const kb::real* bias, kb::real* y) {
  const int64_t group = (int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  if (group >= samples * groups) return;
  const int64_t first = group % groups * n;  // feature
  y += group * n;
  const kb::Moments m = kb::reduce(kb::Warp{}, n, kb::OnlineMoments{}, kb::Same{}, y);
  const float scale = 1 / sqrtf(m.variance() + 1e-5f);
  const auto f = [=](float v, float w, float b) { return (v - m.mean) * scale * w + b; };
  kb::map(kb::Warp{}, n, f, y, y, weight + first, bias + first);
}

void task::launch(const Sizes& s, const real* x, const real* bias, const real* weight,
                  const real* gemm_bias, const real* gn_weight, const real* gn_bias, real* y,
                  cudaStream_t stream) {
  const kb::ProductShape shape = {s.batch_size, s.out_features, s.in_features};
  kb::launch_product(stream, shape, kb::left(x, shape), kb::right_transposed(weight, shape),
                     kb::store(y, shape, AddHardtanhMish{gemm_bias, bias}));
  constexpr int threads = 256;
  const int64_t groups = s.num_groups,
                blocks = (s.batch_size * groups * 32 + threads - 1) / threads;
  normalise<<<blocks, threads, 0, stream>>>(s.batch_size, groups, s.out_features / groups,
                                            gn_weight, gn_bias, y);
}
