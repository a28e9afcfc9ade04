// Frobenius norm: partial sums by blocks, their sum by one more kernel, then the quotients.
// Task: level1/037_frobenius_norm
// Expected: pass
#include "task.h"

constexpr int threads = 256, blocks = 512;

__device__ float sum_of_block(float v) {
  __shared__ float parts[threads];
  parts[threadIdx.x] = v;
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
    __syncthreads();
  }
  return parts[0];
}

__global__ void sum_squares(const float* x, float* parts, int64_t n) {
  float sum = 0;
  for (int64_t i = blockIdx.x * threads + threadIdx.x; i < n; i += blocks * threads) {
    sum += x[i] * x[i];
  }
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

__global__ void finish(float* parts) {
  float sum = 0;
  for (int i = threadIdx.x; i < blocks; i += threads) sum += parts[i];
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) parts[0] = sqrtf(sum);
}

__global__ void divide(const float* x, const float* norm, float* y, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * threads + threadIdx.x;
  if (i < n) y[i] = x[i] / *norm;
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const int64_t n = s.batch_size * s.features * s.dim1 * s.dim2;
  float* parts = nullptr;
  cudaMallocAsync(&parts, blocks * sizeof(float), stream);
  sum_squares<<<blocks, threads, 0, stream>>>(x, parts, n);
  finish<<<1, threads, 0, stream>>>(parts);
  divide<<<(n + threads - 1) / threads, threads, 0, stream>>>(x, parts, y, n);
  cudaFreeAsync(parts, stream);
}
