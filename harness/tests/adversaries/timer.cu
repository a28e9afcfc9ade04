// Starts a clock that calls it again when it is not its turn, to keep the GPU busy then.
// Task: level1/019_relu
// Expected: runtime_error
#include "task.h"

#include <sys/time.h>

#include <csignal>
#include <cstdlib>

__global__ void relu(const float* x, float* y, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] > 0 ? x[i] : 0;
}

static void honest(const task::Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const int64_t n = s.batch_size * s.dim;
  relu<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const itimerval every{{0, 500}, {0, 500}};
  std::signal(SIGALRM, [](int) {});
  if (setitimer(ITIMER_REAL, &every, nullptr) != 0) std::abort();
  honest(s, x, y, stream);
}
