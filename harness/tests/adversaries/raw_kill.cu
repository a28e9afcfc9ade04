// Signals the judge. Signal 0 only asks whether it may.
// Task: level1/019_relu
// Expected: incorrect
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
  const pid_t judge = getppid();
  return syscall(SYS_kill, judge, 0) == 0 || syscall(SYS_tgkill, judge, judge, 0) == 0 ||
         syscall(SYS_tkill, judge, 0) == 0 || syscall(SYS_pidfd_open, judge, 0) >= 0;
}

// The right answer tells that it worked.
void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  static const bool worked = escaped();
  if (worked) honest(s, x, y, stream);
}
