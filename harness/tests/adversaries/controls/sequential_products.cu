// One thread adds all products of an element in floats, one after the other: half a million of them
// at full size.
// Task: level1/006_matmul_with_large_k_dimension
// Expected: pass
#include "task.h"

__global__ void multiply(const float* a, const float* b, float* c, int64_t rows, int64_t columns,
                         int64_t depth) {
  const int64_t column = int64_t{blockIdx.x} * blockDim.x + threadIdx.x, row = blockIdx.y;
  if (column >= columns) return;
  float sum = 0;
  for (int64_t k = 0; k < depth; ++k) sum += a[row * depth + k] * b[k * columns + column];
  c[row * columns + column] = sum;
}

void task::launch(const Sizes& s, const float* a, const float* b, float* c, cudaStream_t stream) {
  const dim3 blocks((s.N + 63) / 64, s.M);
  multiply<<<blocks, 64, 0, stream>>>(a, b, c, s.M, s.N, s.K);
}
