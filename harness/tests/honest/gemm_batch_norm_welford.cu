// Linear layer with a factor, then batch norm by Welford's running mean, one thread per feature.
// Task: level2/039_gemm_scale_batch_norm_large_batch
// Expected: pass
#include "task.h"

__global__ void gemm(const float* x, const float* scale, const float* weight, const float* bias,
                     float* y, int64_t outputs, int64_t depth, int64_t columns) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= outputs) return;
  float sum = 0;
  for (int64_t k = 0; k < depth; ++k) {
    sum = fmaf(x[i / columns * depth + k], weight[i % columns * depth + k], sum);
  }
  y[i] = (sum + bias[i % columns]) * scale[i % columns];
}

__global__ void normalise(float* y, const float* weight, const float* bias, int64_t rows,
                          int64_t columns) {
  const int64_t f = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (f >= columns) return;
  float mean = 0, squares = 0;
  for (int64_t row = 0; row < rows; ++row) {
    const float v = y[row * columns + f], delta = v - mean;
    mean += delta / (row + 1);
    squares += delta * (v - mean);
  }
  const float scale = weight[f] / sqrtf(squares / rows + 1e-5f);
  for (int64_t row = 0; row < rows; ++row) {
    y[row * columns + f] = (y[row * columns + f] - mean) * scale + bias[f];
  }
}

void task::launch(const Sizes& s, const float* x, const float* scale, const float* weight,
                  const float* bias, const float* bn_weight, const float* bn_bias, float* y,
                  cudaStream_t stream) {
  const int64_t outputs = s.batch_size * s.out_features;
  gemm<<<(outputs + 255) / 256, 256, 0, stream>>>(x, scale, weight, bias, y, outputs, s.in_features,
                                                  s.out_features);
  normalise<<<(s.out_features + 63) / 64, 64, 0, stream>>>(y, bn_weight, bn_bias, s.batch_size,
                                                           s.out_features);
}
