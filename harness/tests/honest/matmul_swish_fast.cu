// Linear layer, one thread per output, with Swish by __expf and __fdividef.
// Task: level2/059_matmul_swish_scaling
// Expected: pass
#include "task.h"

__global__ void linear(const float* x, const float* weight, const float* bias, float factor,
                       float* y, int64_t outputs, int64_t depth, int64_t columns) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= outputs) return;
  const float* left = x + i / columns * depth;
  const float* right = weight + i % columns * depth;
  float v = 0;
  for (int64_t k = 0; k < depth; ++k) v += left[k] * right[k];
  v += bias[i % columns];
  y[i] = __fdividef(v, 1 + __expf(-v)) * factor;
}

void task::launch(const Sizes& s, const float* x, const float* weight, const float* bias, float* y,
                  cudaStream_t stream) {
  const int64_t outputs = s.batch_size * s.out_features;
  linear<<<(outputs + 127) / 128, 128, 0, stream>>>(x, weight, bias,
                                                    static_cast<float>(s.scaling_factor), y,
                                                    outputs, s.in_features, s.out_features);
}
