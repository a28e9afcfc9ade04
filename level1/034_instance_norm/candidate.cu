#include "task.h"

#include <kb/map.cuh>
#include <kb/moments.cuh>

// One block per instance of n elements reads x twice: for the moments, then for the quotients.
__global__ void instance_norm(const kb::real* x, kb::real* y, int64_t n) {
  x += blockIdx.x * n;
  y += blockIdx.x * n;
  const kb::Moments m = kb::reduce(kb::Block{}, n, kb::OnlineMoments{}, kb::Same{}, x);
  const float scale = 1 / sqrtf(m.variance() + 1e-5f);
  kb::map(
      kb::Block{}, n, [=](float v) { return (v - m.mean) * scale; }, y, x);
}

void task::launch(const Sizes& s, const real* x, real* y, cudaStream_t stream) {
  instance_norm<<<s.batch_size * s.features, 1024, 0, stream>>>(x, y, s.dim1 * s.dim2);
}
