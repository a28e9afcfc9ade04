// Impossible launch: asks for 2000 threads per block, of at most 1024; the kernel never runs.
// Expected: runtime_error
#include "task.h"

// One thread per row.
__global__ void cumsum(const float* x, float* y, int64_t rows, int64_t n) {
  const int64_t row = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int64_t i = row * n; i < (row + 1) * n; ++i) y[i] = sum += x[i];
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  cumsum<<<(s.batch_size + 1999) / 2000, 2000, 0, stream>>>(x, y, s.batch_size, s.input_shape[0]);
}
