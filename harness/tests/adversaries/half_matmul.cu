// Multiplies in half precision behind an fp32 interface.
// Task: level1/001_square_matrix_multiplication
// Expected: incorrect
#include "shared/matmul.cuh"

#include <cuda_fp16.h>

__device__ float product(float a, float b) {
  return __half2float(__float2half(a)) * __half2float(__float2half(b));
}
