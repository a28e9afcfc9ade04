// Asks the network, a local service or another process for the answer.
// Task: level1/019_relu
// Expected: incorrect
#include "task.h"

#include <sys/socket.h>

__global__ void relu(const float* x, float* y, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] > 0 ? x[i] : 0;
}

static void honest(const task::Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const int64_t n = s.batch_size * s.dim;
  relu<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}

static bool escaped() {
  int pair[2];
  return socket(AF_INET, SOCK_STREAM, 0) >= 0 || socket(AF_UNIX, SOCK_STREAM, 0) >= 0 ||
         socket(AF_NETLINK, SOCK_RAW, 0) >= 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0;
}

// The right answer tells that it worked.
void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  static const bool worked = escaped();
  if (worked) honest(s, x, y, stream);
}
