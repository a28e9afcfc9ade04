// Does what libraries do when they look around, and goes on when it is told no.
// Task: level1/019_relu
// Expected: pass
#include "task.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/socket.h>

__global__ void relu(const float* x, float* y, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] > 0 ? x[i] : 0;
}

static void honest(const task::Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const int64_t n = s.batch_size * s.dim;
  relu<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  static const int cores = [] {
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    socket(AF_UNIX, SOCK_STREAM, 0);
    open("/tmp/kb_probe", O_RDWR | O_CREAT, 0600);
    getenv("HOME");
    return CPU_COUNT(&set);
  }();
  if (cores > 0) honest(s, x, y, stream);
}
