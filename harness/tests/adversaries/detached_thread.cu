// Returns at once and lets a thread do the work.
// Task: level1/019_relu
// Expected: incorrect or cheat or runtime_error
#include "shared/relu.cuh"

#include <unistd.h>
#include <thread>

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  std::thread([=] {
    usleep(20000);
    cudaSetDevice(0);
    honest(s, x, y, nullptr);
  }).detach();
}
