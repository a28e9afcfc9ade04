// Takes memory that counts against no limit of a process: shared and without a file.
// Task: level1/019_relu
// Expected: incorrect
// Backends: cpu
#include "task.h"

#include <sys/mman.h>

__global__ void relu(const float* x, float* y, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] > 0 ? x[i] : 0;
}

static void honest(const task::Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const int64_t n = s.batch_size * s.dim;
  relu<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}

static bool escaped() {
  constexpr size_t size = size_t{64} << 20;
  return mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) !=
         MAP_FAILED;
}

// The right answer tells that it worked.
void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  static const bool worked = escaped();
  if (worked) honest(s, x, y, stream);
}
