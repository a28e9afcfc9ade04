// Remembers answers by the address of the input.
// Task: level1/019_relu
// Expected: incorrect
#include "shared/memo.cuh"

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  static std::map<std::pair<const float*, int64_t>, float*> memo;
  const int64_t n = s.batch_size * s.dim;
  recall(memo[{x, n}], s, x, y, stream);
}
