#include "task.h"

#include <kb/map.cuh>

struct Selu {
  static constexpr int rounds = 2;
  __device__ float operator()(float v) const {
    return 1.0507010f * (v > 0 ? v : 1.6732632f * expm1f(v));
  }
};

void task::launch(const Sizes& s, const real* x, real* y, cudaStream_t stream) {
  kb::launch_map(stream, s.batch_size * s.dim, Selu{}, y, x);
}
