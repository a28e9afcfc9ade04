// Adds what the block before has left, without waiting for it.
// Task: level1/089_cumsum
// Expected: incorrect
// Says: in some orders of threads
// Backends: cpu
#include "task.h"

constexpr int64_t part = 32;

__global__ void cumsum(const float* x, float* y, int64_t rows, int64_t columns) {
  const int64_t row = blockIdx.y * int64_t{32} + threadIdx.x, start = blockIdx.x * part;
  if (row >= rows) return;
  float sum = start > 0 ? y[row * columns + start - 1] : 0;
  for (int64_t i = start; i < columns && i < start + part; ++i)
    y[row * columns + i] = sum += x[row * columns + i];
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>((s.input_shape[0] + part - 1) / part),
                  static_cast<unsigned>((s.batch_size + 31) / 32));
  cumsum<<<grid, 32, 0, stream>>>(x, y, s.batch_size, s.input_shape[0]);
}
