// Multiplies in TF32 what is to be multiplied in fp32.
// Task: level1/001_square_matrix_multiplication
// Expected: incorrect
#include "shared/matmul.cuh"

__device__ float product(float a, float b) { return tf32(a) * tf32(b); }
