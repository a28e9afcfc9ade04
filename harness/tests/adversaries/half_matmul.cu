// Multiplies in half precision behind an fp32 interface.
// Task: level1/001_square_matrix_multiplication
// Expected: incorrect
#include "task.h"

#include <cuda_fp16.h>

// One thread per element of C.
__global__ void matmul(const float* a, const float* b, float* c, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n * n) return;
  const float* row = a + i / n * n;
  const float* column = b + i % n;
  float sum = 0;
  for (int64_t k = 0; k < n; ++k) {
    sum += __half2float(__float2half(row[k])) * __half2float(__float2half(column[k * n]));
  }
  c[i] = sum;
}

void task::launch(const Sizes& s, const float* a, const float* b, float* c, cudaStream_t stream) {
  matmul<<<(s.N * s.N + 255) / 256, 256, 0, stream>>>(a, b, c, s.N);
}
