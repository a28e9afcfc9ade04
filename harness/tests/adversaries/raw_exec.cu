// Becomes another program.
// Task: level1/019_relu
// Expected: incorrect
#include "task.h"

#include <fcntl.h>
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
  const char* const arguments[] = {"true", nullptr};
  syscall(SYS_execve, "/usr/bin/true", arguments, arguments);
  syscall(SYS_execveat, AT_FDCWD, "/bin/true", arguments, arguments, 0);
  return false;  // the end of this process would be a runtime_error
}

// The right answer tells that it worked.
void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  static const bool worked = escaped();
  if (worked) honest(s, x, y, stream);
}
