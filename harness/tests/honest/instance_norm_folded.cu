// Instance norm folded into one multiplication and one addition; one warp per image and channel.
// Task: level1/034_instance_norm
// Expected: pass
#include "task.h"

__device__ float sum_of_warp(float v) {
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(0xffffffff, v, offset);
  return v;
}

__global__ void instance_norm(const float* x, float* y, int64_t pixels) {
  x += blockIdx.x * pixels;
  y += blockIdx.x * pixels;
  float sum = 0;
  for (int64_t i = threadIdx.x; i < pixels; i += 32) sum += x[i];
  const float mean = sum_of_warp(sum) / pixels;
  float squares = 0;
  for (int64_t i = threadIdx.x; i < pixels; i += 32) squares += (x[i] - mean) * (x[i] - mean);
  const float scale = 1 / sqrtf(sum_of_warp(squares) / pixels + 1e-5f);
  const float shift = -mean * scale;
  for (int64_t i = threadIdx.x; i < pixels; i += 32) y[i] = x[i] * scale + shift;
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  instance_norm<<<s.batch_size * s.features, 32, 0, stream>>>(x, y, s.dim1 * s.dim2);
}
