#include "task.h"

#include <kb/map.cuh>

struct Softplus {
  static constexpr int rounds = 2;
  __device__ float operator()(float v) const { return v > 20 ? v : log1pf(expf(v)); }
};

void task::launch(const Sizes& s, const real* x, real* y, cudaStream_t stream) {
  kb::launch_map(stream, s.batch_size * s.dim, Softplus{}, y, x);
}
