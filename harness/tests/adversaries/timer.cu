// Starts a clock that calls it again when it is not its turn, to keep the GPU busy then.
// Task: level1/019_relu
// Expected: runtime_error
#include "shared/relu.cuh"

#include <sys/time.h>

#include <csignal>
#include <cstdlib>

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const itimerval every{{0, 500}, {0, 500}};
  std::signal(SIGALRM, [](int) {});
  if (setitimer(ITIMER_REAL, &every, nullptr) != 0) std::abort();
  honest(s, x, y, stream);
}
