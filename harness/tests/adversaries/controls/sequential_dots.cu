// One thread adds a whole row in floats, one term after the other: a million of them at full size.
// Task: level1/004_matrix_vector_multiplication
// Expected: pass
#include "task.h"

__global__ void multiply(const float* a, const float* b, float* c, int64_t rows, int64_t depth) {
  const int64_t row = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int64_t k = 0; k < depth; ++k) sum += a[row * depth + k] * b[k];
  c[row] = sum;
}

void task::launch(const Sizes& s, const float* a, const float* b, float* c, cudaStream_t stream) {
  multiply<<<(s.M + 31) / 32, 32, 0, stream>>>(a, b, c, s.M, s.K);
}
