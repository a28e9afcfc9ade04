// Splits each operand into three parts of 8 bits and adds the six largest of the nine products, the
// small ones first.
// Task: level1/018_matmul_with_transposed_both
// Expected: pass
#include "task.h"

struct Parts {
  float high, middle, low;
};

__device__ float first_bits(float v) { return __uint_as_float(__float_as_uint(v) & 0xffff0000u); }

__device__ Parts split(float v) {
  const float high = first_bits(v), middle = first_bits(v - high);
  return {high, middle, v - high - middle};
}

__global__ void multiply(const float* a, const float* b, float* c, int64_t rows, int64_t columns,
                         int64_t depth) {
  const int64_t column = int64_t{blockIdx.x} * blockDim.x + threadIdx.x, row = blockIdx.y;
  if (column >= columns) return;
  float sum = 0;
  for (int64_t k = 0; k < depth; ++k) {
    const Parts l = split(a[k * rows + row]), r = split(b[column * depth + k]);
    sum += l.middle * r.middle + l.high * r.low + l.low * r.high;
    sum += l.high * r.middle + l.middle * r.high;
    sum += l.high * r.high;
  }
  c[row * columns + column] = sum;
}

void task::launch(const Sizes& s, const float* a, const float* b, float* c, cudaStream_t stream) {
  multiply<<<dim3((s.N + 127) / 128, s.M), 128, 0, stream>>>(a, b, c, s.M, s.N, s.K);
}
