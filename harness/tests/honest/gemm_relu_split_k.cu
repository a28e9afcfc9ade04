// Linear layer whose blocks share the depth and add by atomics; one more kernel has bias and ReLU.
// Task: level2/076_gemm_add_relu
// Expected: pass
#include "task.h"

constexpr int64_t part = 64;

__global__ void gemm(const float* x, const float* weight, float* y, int64_t rows, int64_t depth,
                     int64_t columns) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= rows * columns) return;
  const float* left = x + i / columns * depth;
  const float* right = weight + i % columns * depth;
  float sum = 0;
  for (int64_t k = blockIdx.y * part; k < depth && k < (blockIdx.y + 1) * part; ++k) {
    sum = fmaf(left[k], right[k], sum);
  }
  atomicAdd(y + i, sum);
}

__global__ void add_relu(float* y, const float* bias, int64_t n, int64_t columns) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(y[i] + bias[i % columns], 0.0f);
}

void task::launch(const Sizes& s, const float* x, const float* bias, const float* weight, float* y,
                  cudaStream_t stream) {
  const int64_t n = s.batch_size * s.out_features;
  cudaMemsetAsync(y, 0, n * sizeof(float), stream);
  const unsigned blocks = (n + 255) / 256;
  gemm<<<dim3(blocks, (s.in_features + part - 1) / part), 256, 0, stream>>>(
      x, weight, y, s.batch_size, s.in_features, s.out_features);
  add_relu<<<blocks, 256, 0, stream>>>(y, bias, n, s.out_features);
}
