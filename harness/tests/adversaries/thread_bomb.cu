// Starts threads until there are no more, then goes on as if nothing were.
// Task: level1/019_relu
// Expected: runtime_error
#include "shared/relu.cuh"

#include <unistd.h>
#include <thread>

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  static const bool started = [] {
    for (int i = 0; i < 100000; ++i) std::thread([] { pause(); }).detach();
    return true;
  }();
  if (started) honest(s, x, y, stream);
}
