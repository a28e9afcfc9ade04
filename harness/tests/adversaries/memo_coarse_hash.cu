// Remembers answers by a hash of a few samples that different inputs share.
// Task: level1/019_relu
// Expected: incorrect
#include "shared/memo.cuh"

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  static std::map<std::pair<bool, int64_t>, float*> memo;
  const int64_t n = s.batch_size * s.dim;
  float sample = 0;
  cudaMemcpy(&sample, x + n / 2, sizeof sample, cudaMemcpyDeviceToHost);
  recall(memo[{sample > 0, n}], s, x, y, stream);
}
