// The mean of a column: threads of several blocks add their parts by atomics.
// Task: level1/048_mean_reduction_over_a_dimension
// Expected: pass
#include "task.h"

constexpr int rows_of_block = 64;

__global__ void add(const float* x, float* y, int64_t rows, int64_t columns) {
  const int64_t column = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  const int64_t first = int64_t{blockIdx.y} * rows_of_block;
  const int64_t end = first + rows_of_block < rows ? first + rows_of_block : rows;
  const float* in = x + blockIdx.z * rows * columns + column;
  float sum = 0;
  for (int64_t row = first; row < end; ++row) sum += in[row * columns];
  atomicAdd(y + blockIdx.z * columns + column, sum / rows);
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  cudaMemsetAsync(y, 0, s.batch_size * s.dim2 * sizeof(float), stream);
  const dim3 blocks((s.dim2 + 127) / 128, (s.dim1 + rows_of_block - 1) / rows_of_block,
                    s.batch_size);
  add<<<blocks, 128, 0, stream>>>(x, y, s.dim1, s.dim2);
}
