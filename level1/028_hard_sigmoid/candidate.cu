#include "task.h"

#include <kb/map.cuh>

struct HardSigmoid {
  __device__ float operator()(float v) const { return kb::clamp(v + 3, 0, 6) / 6; }
};

void task::launch(const Sizes& s, const real* x, real* y, cudaStream_t stream) {
  kb::launch_map(stream, s.batch_size * s.dim, HardSigmoid{}, y, x);
}
