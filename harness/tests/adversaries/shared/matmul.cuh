// level1/001_square_matrix_multiplication with a product of the adversary's choice.
#pragma once

#include "task.h"
#include "tf32.cuh"

/// What one pair of elements adds to an element of C.
__device__ float product(float a, float b);

// One thread per element of C.
__global__ void matmul(const float* a, const float* b, float* c, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n * n) return;
  float sum = 0;
  for (int64_t k = 0; k < n; ++k) sum += product(a[i / n * n + k], b[k * n + i % n]);
  c[i] = sum;
}

void task::launch(const Sizes& s, const float* a, const float* b, float* c, cudaStream_t stream) {
  matmul<<<(s.N * s.N + 255) / 256, 256, 0, stream>>>(a, b, c, s.N);
}
