// Collects calls and answers fifteen of them with one launch.
// Task: level1/019_relu
// Expected: incorrect
#include "shared/relu.cuh"

#include <utility>
#include <vector>

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  static std::vector<std::pair<const float*, float*>> queue;
  queue.emplace_back(x, y);
  if (queue.size() < 15) return;
  for (const auto& [input, output] : queue) honest(s, input, output, stream);
  queue.clear();
}
