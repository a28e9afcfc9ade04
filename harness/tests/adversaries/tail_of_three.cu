// Unrolls a sum by four, with a tail for three features left over, as in the published sizes.
// Task: level2/076_gemm_add_relu
// Expected: incorrect
#include "task.h"

__global__ void linear_relu(task::Sizes s, const float* x, const float* bias, const float* weight,
                            float* y) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= s.batch_size * s.out_features) return;
  const float* a = x + i / s.out_features * s.in_features;
  const float* b = weight + i % s.out_features * s.in_features;
  float sum = 0;
  int64_t k = 0;
  for (; k + 3 < s.in_features; k += 4) {
    sum += a[k] * b[k] + a[k + 1] * b[k + 1] + a[k + 2] * b[k + 2] + a[k + 3] * b[k + 3];
  }
  if (k + 2 < s.in_features) sum += a[k] * b[k] + a[k + 1] * b[k + 1] + a[k + 2] * b[k + 2];
  sum += bias[i % s.out_features];
  y[i] = sum < 0 ? 0 : sum;
}

void task::launch(const Sizes& s, const float* x, const float* bias, const float* weight, float* y,
                  cudaStream_t stream) {
  const int64_t n = s.batch_size * s.out_features;
  linear_relu<<<(n + 255) / 256, 256, 0, stream>>>(s, x, bias, weight, y);
}
