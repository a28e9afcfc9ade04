// Product with a long depth: each block adds the products of a part of it by atomics.
// Task: level1/006_matmul_with_large_k_dimension
// Expected: pass
#include "task.h"

constexpr int64_t part = 512;

__global__ void multiply(const float* a, const float* b, float* c, int64_t rows, int64_t columns,
                         int64_t depth) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= rows * columns) return;
  const int64_t row = i / columns, column = i % columns;
  const int64_t first = blockIdx.y * part, end = first + part < depth ? first + part : depth;
  float sum = 0;
  for (int64_t k = first; k < end; ++k) sum += a[row * depth + k] * b[k * columns + column];
  atomicAdd(c + i, sum);
}

void task::launch(const Sizes& s, const float* a, const float* b, float* c, cudaStream_t stream) {
  cudaMemsetAsync(c, 0, s.M * s.N * sizeof(float), stream);
  const dim3 blocks((s.M * s.N + 255) / 256, (s.K + part - 1) / part);
  multiply<<<blocks, 256, 0, stream>>>(a, b, c, s.M, s.N, s.K);
}
