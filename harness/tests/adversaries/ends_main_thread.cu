// Ends the thread that serves the judge and keeps the process alive.
// Task: level1/019_relu
// Expected: timeout or runtime_error
#include "shared/relu.cuh"

#include <pthread.h>
#include <unistd.h>
#include <thread>

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  std::thread([] { pause(); }).detach();
  honest(s, x, y, stream);
  pthread_exit(nullptr);
}
