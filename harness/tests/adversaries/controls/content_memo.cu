// Remembers answers by a hash of all content: never wrong, no gain where no input comes twice.
// Task: level1/019_relu
// Expected: pass
// Backends: cpu
#include <vector>

#include "../shared/memo.cuh"

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  static std::map<std::pair<uint64_t, int64_t>, float*> memo;
  const int64_t n = s.batch_size * s.dim;
  std::vector<uint32_t> content(n);
  cudaMemcpy(content.data(), x, n * sizeof *x, cudaMemcpyDeviceToHost);
  uint64_t hash = 0;
  for (const uint32_t bits : content) hash = hash * 0x100000001b3 + bits;
  recall(memo[{hash, n}], s, x, y, stream);
}
