#include "task.h"

#include <kb/map.cuh>
#include <kb/moments.cuh>
#include <kb/product.cuh>

// One block per sample; each of its warps normalises every so many-th group of n features.
__global__ void least_of_groups(const kb::real* z, const kb::real* weight, const kb::real* bias,
                                float* least, int64_t groups, int64_t n) {
  z += blockIdx.x * groups * n;
  float min = kb::Min::identity();
  for (int64_t group = threadIdx.x / 32; group < groups; group += blockDim.x / 32) {
    const int64_t at = group * n;
    const kb::Moments m = kb::reduce(kb::Warp{}, n, kb::OnlineMoments{}, kb::Same{}, z + at);
    const float scale = 1 / sqrtf(m.variance() + 1e-5f);
    const auto f = [=](float v, float w, float b) { return (v - m.mean) * scale * w + b; };
    min = kb::Min{}(min, kb::fold(kb::Warp{}, n, kb::Min{}, f, z + at, weight + at, bias + at));
  }
  min = kb::combine(kb::Block{}, min, kb::Min{});
  if (threadIdx.x == 0) least[blockIdx.x] = min;
}

// One block per feature.
__global__ void add_bias(const float* least, const kb::real* bias, kb::real* y, int64_t samples) {
  const auto offset = static_cast<float>(bias[blockIdx.x]);
  kb::map(
      kb::Block{}, samples, [=](float v) { return v + offset; }, y + blockIdx.x * samples, least);
}

// Until the last step y, which is as large, holds the linear layer's result.
void task::launch(const Sizes& s, const real* x, const real* bias, const real* weight,
                  const real* gemm_bias, const real* gn_weight, const real* gn_bias, real* y,
                  cudaStream_t stream) {
  float* least;
  cudaMallocAsync(&least, s.batch_size * sizeof(float), stream);
  const kb::ProductShape shape = {s.batch_size, s.out_features, s.in_features};
  kb::launch_product(stream, shape, kb::left(x, shape), kb::right_transposed(weight, shape),
                     kb::store(y, shape, kb::AddColumnBias{gemm_bias}));
  least_of_groups<<<s.batch_size, 512, 0, stream>>>(y, gn_weight, gn_bias, least, s.num_groups,
                                                    s.out_features / s.num_groups);
  add_bias<<<s.out_features, 256, 0, stream>>>(least, bias, y, s.batch_size);
  cudaFreeAsync(least, stream);
}
