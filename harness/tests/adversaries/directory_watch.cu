// Asks for a signal whenever somebody looks for a file.
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

static bool watches() {
  const int folder = open("/usr/lib", O_RDONLY | O_DIRECTORY);
  const bool worked = folder >= 0 && fcntl(folder, F_NOTIFY, DN_ACCESS | DN_MULTISHOT) == 0;
  if (worked) fcntl(folder, F_NOTIFY, 0);
  return worked;
}

// The right answer tells that it worked.
void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  static const bool worked = watches();
  if (worked) honest(s, x, y, stream);
}
