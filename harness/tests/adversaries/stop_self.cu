// Puts its own process to sleep.
// Task: level1/019_relu
// Expected: timeout
#include "shared/relu.cuh"

#include <csignal>

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  raise(SIGSTOP);
  honest(s, x, y, stream);
}
