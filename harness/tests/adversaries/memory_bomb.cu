// Takes all memory of the machine.
// Task: level1/019_relu
// Expected: runtime_error or timeout
#include "task.h"

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  for (;;) {
    void* block = std::malloc(size_t{256} << 20);
    if (block == nullptr) std::abort();
    std::memset(block, 1, size_t{256} << 20);
  }
}
