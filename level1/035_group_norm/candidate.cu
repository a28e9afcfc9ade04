#include "task.h"

#include <kb/map.cuh>
#include <kb/moments.cuh>

// One block per group of `features` times n elements; a sample has `groups`. It reads x twice: for
// the moments, then for the quotients.
__global__ void group_norm(const kb::real* x, const kb::real* weight, const kb::real* bias,
                           kb::real* y, int64_t groups, int64_t features, int64_t n) {
  x += blockIdx.x * features * n;
  y += blockIdx.x * features * n;
  const kb::Moments m = kb::reduce(kb::Block{}, features * n, kb::OnlineMoments{}, kb::Same{}, x);
  const float scale = 1 / sqrtf(m.variance() + 1e-5f);
  for (int64_t f = 0; f < features; ++f) {
    const int64_t feature = blockIdx.x % groups * features + f;
    const float factor = scale * kb::element(weight, feature), offset = kb::element(bias, feature);
    const auto affine = [=](float v) { return (v - m.mean) * factor + offset; };
    kb::map(kb::Block{}, n, affine, y + f * n, x + f * n);
  }
}

void task::launch(const Sizes& s, const real* x, const real* weight, const real* bias, real* y,
                  cudaStream_t stream) {
  group_norm<<<s.batch_size * s.num_groups, 1024, 0, stream>>>(
      x, weight, bias, y, s.num_groups, s.features / s.num_groups, s.dim1 * s.dim2);
}
