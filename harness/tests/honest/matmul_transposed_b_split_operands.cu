// Splits each operand into a part of 11 bits and the rest, as for tensor cores, and adds three of
// the four products.
// Task: level1/017_matmul_with_transposed_b
// Expected: pass
#include "task.h"

__device__ float high(float v) { return __uint_as_float(__float_as_uint(v) & 0xffffe000u); }

__global__ void multiply(const float* a, const float* b, float* c, int64_t rows, int64_t columns,
                         int64_t depth) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= rows * columns) return;
  const float* left = a + i / columns * depth;
  const float* right = b + i % columns * depth;
  float sum = 0;
  for (int64_t k = 0; k < depth; ++k) {
    const float a_high = high(left[k]), b_high = high(right[k]);
    const float a_low = high(left[k] - a_high), b_low = high(right[k] - b_high);
    sum += a_high * b_low;
    sum += a_low * b_high;
    sum += a_high * b_high;
  }
  c[i] = sum;
}

void task::launch(const Sizes& s, const float* a, const float* b, float* c, cudaStream_t stream) {
  multiply<<<(s.M * s.N + 255) / 256, 256, 0, stream>>>(a, b, c, s.M, s.N, s.K);
}
