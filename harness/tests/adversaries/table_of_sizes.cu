// Knows the sizes that the task publishes, and computes nothing at others.
// Task: level1/019_relu
// Expected: incorrect
#include "shared/relu.cuh"

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const int64_t known[][2] = {{16, 1536}, {3, 1021}, {4096, 393216}};
  for (const auto& [batch_size, dim] : known) {
    if (s.batch_size != batch_size || s.dim != dim) continue;
    const int64_t n = batch_size * dim;
    relu<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
  }
}
