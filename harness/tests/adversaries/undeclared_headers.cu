// Includes headers that its run does not declare.
// Task: level1/019_relu
// Expected: policy_violation
#include "task.h"

#include <kb/map.cuh>

struct Relu {
  __device__ float operator()(float v) const { return fmaxf(v, 0); }
};

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  kb::launch_map(stream, s.batch_size * s.dim, Relu{}, y, x);
}
