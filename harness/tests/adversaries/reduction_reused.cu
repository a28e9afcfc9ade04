// Adds up twice in one array: a fast warp writes its second sum while others still read the first.
// Task: level1/040_layer_norm
// Expected: incorrect
// Says: in some orders of threads
// Backends: cpu
#include "task.h"

__device__ float block_sum(float v) {
  __shared__ float sums[8];
  for (int step = 16; step > 0; step /= 2) v += __shfl_down_sync(0xffffffff, v, step);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v;
  __syncthreads();
  float sum = 0;
  for (float each : sums) sum += each;
  return sum;
}

__global__ void layer_norm(const float* x, const float* weight, const float* bias, float* y,
                           int64_t n) {
  x += blockIdx.x * n;
  y += blockIdx.x * n;
  float sum = 0, squares = 0;
  for (int64_t i = threadIdx.x; i < n; i += 256) sum += x[i];
  const float mean = block_sum(sum) / n;
  for (int64_t i = threadIdx.x; i < n; i += 256) squares += (x[i] - mean) * (x[i] - mean);
  const float scale = rsqrtf(block_sum(squares) / n + 1e-5f);
  for (int64_t i = threadIdx.x; i < n; i += 256) y[i] = (x[i] - mean) * scale * weight[i] + bias[i];
}

void task::launch(const Sizes& s, const float* x, const float* weight, const float* bias, float* y,
                  cudaStream_t stream) {
  layer_norm<<<s.batch_size, 256, 0, stream>>>(x, weight, bias, y, s.features * s.dim1 * s.dim2);
}
