// Prints ten megabytes in each of its first calls.
// Task: level1/019_relu
// Expected: pass
#include "task.h"

#include <string>

__global__ void relu(const float* x, float* y, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] > 0 ? x[i] : 0;
}

static void honest(const task::Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const int64_t n = s.batch_size * s.dim;
  relu<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  static const std::string line(1 << 16, '.');
  static int calls = 0;
  for (int i = 0; i < 160 && calls < 5; ++i) std::puts(line.c_str());
  ++calls;
  honest(s, x, y, stream);
}
