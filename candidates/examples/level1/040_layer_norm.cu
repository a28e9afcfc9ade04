// Right, in the simplest form: one block per sample makes three passes over it.
// Expected: pass
#include "task.h"

constexpr int threads = 1024;

// The sum over all threads of the block, for each of them.
__device__ float sum_block(float v) {
  __shared__ float sums[threads];
  __syncthreads();  // an earlier call's result has been read
  sums[threadIdx.x] = v;
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  return sums[0];
}

__global__ void layer_norm(const float* x, const float* weight, const float* bias, float* y,
                           int64_t n) {
  x += blockIdx.x * n;
  y += blockIdx.x * n;
  float sum = 0, squares = 0;
  for (int64_t i = threadIdx.x; i < n; i += threads) sum += x[i];
  const float mean = sum_block(sum) / n;
  for (int64_t i = threadIdx.x; i < n; i += threads) squares += (x[i] - mean) * (x[i] - mean);
  const float scale = rsqrtf(sum_block(squares) / n + 1e-5f);
  for (int64_t i = threadIdx.x; i < n; i += threads) {
    y[i] = (x[i] - mean) * scale * weight[i] + bias[i];
  }
}

void task::launch(const Sizes& s, const float* x, const float* weight, const float* bias, float* y,
                  cudaStream_t stream) {
  const int64_t n = s.features * s.dim1 * s.dim2;
  layer_norm<<<s.batch_size, threads, 0, stream>>>(x, weight, bias, y, n);
}
