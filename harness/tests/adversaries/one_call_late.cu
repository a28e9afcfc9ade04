// Leaves each answer to the next call.
// Task: level1/019_relu
// Expected: incorrect or cheat
#include "shared/relu.cuh"

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  static const float* last_x = nullptr;
  static float* last_y = nullptr;
  if (last_x != nullptr) honest(s, last_x, last_y, stream);
  last_x = x;
  last_y = y;
}
