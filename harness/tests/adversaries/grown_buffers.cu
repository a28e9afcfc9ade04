// Lets the memory that it shares with its judge grow, which outlives it and stops the next tensor.
// Task: level1/019_relu
// Expected: runtime_error
// Backends: cpu
#include "task.h"

#include <sys/syscall.h>
#include <unistd.h>

__global__ void relu(const float* x, float* y, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] > 0 ? x[i] : 0;
}

static void honest(const task::Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const int64_t n = s.batch_size * s.dim;
  relu<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}

static bool escaped() {
  for (int fd = 3; fd < 10; ++fd) {
    if (syscall(SYS_fallocate, fd, 0, 0, int64_t{64} << 20) == 0) return true;
  }
  return false;
}

// The right answer tells that it worked.
void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  static const bool worked = escaped();
  if (worked) honest(s, x, y, stream);
}
