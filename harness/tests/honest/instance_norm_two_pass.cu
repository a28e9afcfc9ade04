// Instance norm in two passes, mean and then variance, by trees in shared memory.
// Task: level1/034_instance_norm
// Expected: pass
#include "task.h"

__device__ float sum_of_block(float v) {
  __shared__ float parts[256];
  __syncthreads();
  parts[threadIdx.x] = v;
  for (int half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
  }
  __syncthreads();
  return parts[0];
}

__global__ void instance_norm(const float* x, float* y, int64_t pixels) {
  const float* in = x + blockIdx.x * pixels;
  float* out = y + blockIdx.x * pixels;
  float sum = 0;
  for (int64_t i = threadIdx.x; i < pixels; i += 256) sum += in[i];
  const float mean = sum_of_block(sum) / pixels;
  float squares = 0;
  for (int64_t i = threadIdx.x; i < pixels; i += 256) {
    const float d = in[i] - mean;
    squares += d * d;
  }
  const float deviation = sqrtf(sum_of_block(squares) / pixels + 1e-5f);
  for (int64_t i = threadIdx.x; i < pixels; i += 256) out[i] = (in[i] - mean) / deviation;
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  instance_norm<<<s.batch_size * s.features, 256, 0, stream>>>(x, y, s.dim1 * s.dim2);
}
