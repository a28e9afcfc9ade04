// Has the kernel stop this process whenever it reads the clock of the core.
// Task: level1/019_relu
// Expected: incorrect
#include "task.h"

#include <sys/prctl.h>

__global__ void relu(const float* x, float* y, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] > 0 ? x[i] : 0;
}

static void honest(const task::Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const int64_t n = s.batch_size * s.dim;
  relu<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}

static bool traps_clock() {
  const bool worked = prctl(PR_SET_TSC, PR_TSC_SIGSEGV) == 0;
  if (worked) prctl(PR_SET_TSC, PR_TSC_ENABLE);
  return worked;
}

// The right answer tells that it worked.
void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  static const bool worked = traps_clock();
  if (worked) honest(s, x, y, stream);
}
