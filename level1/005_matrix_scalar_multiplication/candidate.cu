#include "task.h"

#include <kb/map.cuh>

struct Scale {
  float factor;
  __device__ float operator()(float v) const { return v * factor; }
};

void task::launch(const Sizes& s, const real* a, real* c, cudaStream_t stream) {
  kb::launch_map(stream, s.M * s.N, Scale{static_cast<float>(s.s)}, c, a);
}
