#include "task.h"

__device__ float sum_warp(float v) {
  for (int i = 16; i > 0; i /= 2) v += __shfl_xor_sync(~0u, v, i);
  return v;
}

// The same result for all 1024 threads.
__device__ float sum_block(float v) {
  __shared__ float warps[32];
  v = sum_warp(v);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
  __syncthreads();
  return sum_warp(warps[threadIdx.x % 32]);
}

// Up to 1024 blocks, each with its part of the sum: every gridDim.x-th row.
__global__ void sum_losses(const float* predictions, const float* targets, float* parts,
                           int64_t rows, int64_t n) {
  float sum = 0;
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
#pragma unroll 8
    for (int64_t i = threadIdx.x; i < n; i += 1024) {
      sum += fmaxf(1 - predictions[row * n + i] * targets[i], 0);
    }
  }
  sum = sum_block(sum);
  if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

// One block adds up the parts.
__global__ void divide_sum(const float* parts, float* loss, int count, int64_t divisor) {
  const float sum = sum_block(threadIdx.x < count ? parts[threadIdx.x] : 0);
  if (threadIdx.x == 0) *loss = sum / divisor;
}

void task::launch(const Sizes& s, const float* predictions, const float* targets, float* loss,
                  cudaStream_t stream) {
  const int64_t rows = s.batch_size, n = s.input_shape[0];
  const int blocks = rows < 1024 ? rows : 1024;
  void* parts;
  cudaMallocAsync(&parts, blocks * sizeof(float), stream);
  sum_losses<<<blocks, 1024, 0, stream>>>(predictions, targets, static_cast<float*>(parts), rows,
                                          n);
  divide_sum<<<1, 1024, 0, stream>>>(static_cast<float*>(parts), loss, blocks, rows * n);
  cudaFreeAsync(parts, stream);
}
