// Layer norm with one thread per sample, which adds in order: 4 million terms at full size, too
// many for one float.
// Task: level1/040_layer_norm
// Expected: pass
// Backends: cpu
#include "task.h"

__global__ void layer_norm(const float* x, const float* weight, const float* bias, float* y,
                           int64_t samples, int64_t n) {
  const int64_t sample = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (sample >= samples) return;
  const float* in = x + sample * n;
  float mean = 0;
  for (int64_t i = 0; i < n; ++i) mean += in[i];
  mean /= n;
  float variance = 0;
  for (int64_t i = 0; i < n; ++i) variance += (in[i] - mean) * (in[i] - mean);
  variance /= n;
  const float scale = 1 / sqrtf(variance + 1e-5f);
  for (int64_t i = 0; i < n; ++i) y[sample * n + i] = (in[i] - mean) * scale * weight[i] + bias[i];
}

void task::launch(const Sizes& s, const float* x, const float* weight, const float* bias, float* y,
                  cudaStream_t stream) {
  layer_norm<<<(s.batch_size + 31) / 32, 32, 0, stream>>>(x, weight, bias, y, s.batch_size,
                                                          s.features * s.dim1 * s.dim2);
}
