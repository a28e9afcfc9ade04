// Linear layer, then one warp per group: mean, variance, and all that follows.
// Task: level2/088_gemm_group_norm_swish_multiply_swish
// Expected: pass
#include "task.h"

__device__ float swish(float v) { return v / (1 + expf(-v)); }

__device__ float sum_of_warp(float v) {
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(0xffffffff, v, offset);
  return v;
}

__global__ void gemm(const float* x, const float* weight, const float* bias, float* y,
                     int64_t outputs, int64_t depth, int64_t columns) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= outputs) return;
  float sum = 0;
  for (int64_t k = 0; k < depth; ++k) {
    sum += x[i / columns * depth + k] * weight[i % columns * depth + k];
  }
  y[i] = sum + bias[i % columns];
}

__global__ void normalise(float* y, const float* multiply_weight, const float* gn_weight,
                          const float* gn_bias, int64_t groups, int64_t n) {
  const int64_t feature = blockIdx.x % groups * n;
  float* group = y + blockIdx.x * n;
  float sum = 0, squares = 0;
  for (int64_t i = threadIdx.x; i < n; i += 32) sum += group[i];
  const float mean = sum_of_warp(sum) / n;
  for (int64_t i = threadIdx.x; i < n; i += 32) squares += (group[i] - mean) * (group[i] - mean);
  const float inverse = rsqrtf(sum_of_warp(squares) / n + 1e-5f);
  for (int64_t i = threadIdx.x; i < n; i += 32) {
    const int64_t f = feature + i;
    const float v = (group[i] - mean) * inverse * gn_weight[f] + gn_bias[f];
    group[i] = swish(swish(v) * multiply_weight[f]);
  }
}

void task::launch(const Sizes& s, const float* x, const float* multiply_weight, const float* weight,
                  const float* bias, const float* gn_weight, const float* gn_bias, float* y,
                  cudaStream_t stream) {
  const int64_t outputs = s.batch_size * s.out_features;
  gemm<<<(outputs + 255) / 256, 256, 0, stream>>>(x, weight, bias, y, outputs, s.in_features,
                                                  s.out_features);
  normalise<<<s.batch_size * s.num_groups, 32, 0, stream>>>(
      y, multiply_weight, gn_weight, gn_bias, s.num_groups, s.out_features / s.num_groups);
}
