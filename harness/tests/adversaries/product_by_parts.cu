// Blocks that share a tile of the product add their parts of it without atomics.
// Task: level1/001_square_matrix_multiplication
// Expected: incorrect
// Says: in some orders of threads
// Backends: cpu
#include "task.h"

constexpr int side = 16, parts = 2;

__global__ void multiply(const float* a, const float* b, float* c, int64_t n) {
  const int64_t row = blockIdx.y * side + threadIdx.y, column = blockIdx.x * side + threadIdx.x;
  if (row >= n || column >= n) return;
  float sum = 0;
  for (int64_t k = blockIdx.z; k < n; k += parts) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] += sum;
}

void task::launch(const Sizes& s, const float* a, const float* b, float* c, cudaStream_t stream) {
  cudaMemsetAsync(c, 0, s.N * s.N * sizeof(float), stream);
  const unsigned blocks = static_cast<unsigned>((s.N + side - 1) / side);
  multiply<<<dim3(blocks, blocks, parts), dim3(side, side), 0, stream>>>(a, b, c, s.N);
}
