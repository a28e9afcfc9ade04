// Matrix times vector, one warp per row with shuffles.
// Task: level1/004_matrix_vector_multiplication
// Expected: pass
#include "task.h"

__global__ void multiply(const float* a, const float* b, float* c, int64_t rows, int64_t depth) {
  const int64_t row = (int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  if (row >= rows) return;
  float sum = 0;
  for (int64_t k = threadIdx.x % 32; k < depth; k += 32) sum += a[row * depth + k] * b[k];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
  if (threadIdx.x % 32 == 0) c[row] = sum;
}

void task::launch(const Sizes& s, const float* a, const float* b, float* c, cudaStream_t stream) {
  multiply<<<(s.M + 3) / 4, 128, 0, stream>>>(a, b, c, s.M, s.K);
}
