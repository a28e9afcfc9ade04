// Multiplies in TF32, but in three products that together are as good as fp32.
// Task: level1/001_square_matrix_multiplication
// Expected: pass
#include "../shared/matmul.cuh"

__device__ float product(float a, float b) {
  const float a_high = tf32(a), b_high = tf32(b);
  const float a_low = tf32(a - a_high), b_low = tf32(b - b_high);
  return a_high * b_low + a_low * b_high + a_high * b_high;
}
