// Divides each row by its length; one thread per row does all of it, in order.
// Task: level1/039_l2_norm
// Expected: pass
#include "task.h"

__global__ void normalise(const float* x, float* y, int64_t rows, int64_t columns) {
  const int64_t row = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float squares = 0;
  for (int64_t j = 0; j < columns; ++j) {
    const float v = x[row * columns + j];
    squares += v * v;
  }
  const float length = sqrtf(squares);
  for (int64_t j = 0; j < columns; ++j) y[row * columns + j] = x[row * columns + j] / length;
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  normalise<<<(s.batch_size + 127) / 128, 128, 0, stream>>>(x, y, s.batch_size, s.dim);
}
