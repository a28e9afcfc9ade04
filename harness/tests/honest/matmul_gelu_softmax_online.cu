// Linear layer with GELU, then softmax with maximum and sum in one pass, one warp per row.
// Task: level2/099_matmul_gelu_softmax
// Expected: pass
#include "task.h"

__global__ void linear_gelu(const float* x, const float* weight, const float* bias, float* y,
                            int64_t outputs, int64_t depth, int64_t columns) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= outputs) return;
  float v = bias[i % columns];
  for (int64_t k = 0; k < depth; ++k) {
    v = fmaf(x[i / columns * depth + k], weight[i % columns * depth + k], v);
  }
  y[i] = 0.5f * v * (1 + erff(v * 0.70710678f));
}

__global__ void softmax(float* y, int64_t rows, int64_t columns) {
  const int64_t row = (int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  if (row >= rows) return;
  y += row * columns;
  float largest = -INFINITY, sum = 0;
  for (int64_t j = threadIdx.x % 32; j < columns; j += 32) {
    const float top = fmaxf(largest, y[j]);
    sum = sum * expf(largest - top) + expf(y[j] - top);
    largest = top;
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = __shfl_xor_sync(0xffffffff, largest, offset);
    const float other_sum = __shfl_xor_sync(0xffffffff, sum, offset);
    const float top = fmaxf(largest, other);
    if (top > -INFINITY) sum = sum * expf(largest - top) + other_sum * expf(other - top);
    largest = top;
  }
  for (int64_t j = threadIdx.x % 32; j < columns; j += 32) y[j] = expf(y[j] - largest) / sum;
}

void task::launch(const Sizes& s, const float* x, const float* weight, const float* bias, float* y,
                  cudaStream_t stream) {
  const int64_t outputs = s.batch_size * s.out_features;
  linear_gelu<<<(outputs + 255) / 256, 256, 0, stream>>>(x, weight, bias, y, outputs, s.in_features,
                                                         s.out_features);
  softmax<<<(s.batch_size + 3) / 4, 128, 0, stream>>>(y, s.batch_size, s.out_features);
}
