// Asks for a signal when somebody opens a library to write to it, who has to wait for it then.
// Task: level1/019_relu
// Expected: incorrect
#include "task.h"

#include <fcntl.h>
#include <unistd.h>

__global__ void relu(const float* x, float* y, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] > 0 ? x[i] : 0;
}

static void honest(const task::Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const int64_t n = s.batch_size * s.dim;
  relu<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}

static bool leases() {
  for (const char* path : {"/etc/ld.so.cache", "/usr/lib/x86_64-linux-gnu/libc.so.6",
                           "/usr/lib/x86_64-linux-gnu/libm.so.6", "/proc/self/exe"}) {
    const int file = open(path, O_RDONLY);
    if (file >= 0 && fcntl(file, F_SETLEASE, F_RDLCK) == 0) return true;
  }
  return false;
}

// The right answer tells that it worked.
void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  static const bool worked = leases();
  if (worked) honest(s, x, y, stream);
}
