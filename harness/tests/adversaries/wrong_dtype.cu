// Writes 32-bit indices where 64-bit ones belong.
// Task: level1/051_argmax_over_a_dimension
// Expected: incorrect
#include "task.h"

__global__ void argmax(const float* x, int* index, int64_t rows, int64_t columns) {
  const int64_t column = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  x += blockIdx.y * rows * columns + column;
  int best = 0;
  for (int64_t row = 1; row < rows; ++row) {
    if (x[row * columns] > x[best * columns]) best = row;
  }
  index[blockIdx.y * columns + column] = best;
}

void task::launch(const Sizes& s, const float* x, int64_t* index, cudaStream_t stream) {
  argmax<<<dim3((s.dim2 + 127) / 128, s.batch_size), 128, 0, stream>>>(
      x, reinterpret_cast<int*>(index), s.dim1, s.dim2);
}
