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

// Up to 1024 blocks, each with its part of the sum.
__global__ void sum_squares(const float* x, float* parts, int64_t n) {
  const int64_t first = int64_t{blockIdx.x} * 1024 + threadIdx.x, tail = n / 4 * 4 + first;
  float sum = tail < n ? x[tail] * x[tail] : 0;
#pragma unroll 4
  for (int64_t i = first; i < n / 4; i += gridDim.x * 1024) {
    const float4 v = reinterpret_cast<const float4*>(x)[i];
    sum += (v.x * v.x + v.y * v.y) + (v.z * v.z + v.w * v.w);
  }
  sum = sum_block(sum);
  if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

// The same grid; every block adds up the parts for itself.
__global__ void divide(const float* x, const float* parts, float* y, int64_t n) {
  const float norm = sqrtf(sum_block(threadIdx.x < gridDim.x ? parts[threadIdx.x] : 0));
  const int64_t first = int64_t{blockIdx.x} * 1024 + threadIdx.x, tail = n / 4 * 4 + first;
  if (tail < n) y[tail] = x[tail] / norm;
#pragma unroll 4
  for (int64_t i = first; i < n / 4; i += gridDim.x * 1024) {
    const float4 v = reinterpret_cast<const float4*>(x)[i];
    reinterpret_cast<float4*>(y)[i] = {v.x / norm, v.y / norm, v.z / norm, v.w / norm};
  }
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const int64_t n = s.batch_size * s.features * s.dim1 * s.dim2, wanted = (n + 4095) / 4096;
  const unsigned blocks = wanted < 1024 ? wanted : 1024;
  void* parts;
  cudaMallocAsync(&parts, blocks * sizeof(float), stream);
  sum_squares<<<blocks, 1024, 0, stream>>>(x, static_cast<float*>(parts), n);
  divide<<<blocks, 1024, 0, stream>>>(x, static_cast<float*>(parts), y, n);
  cudaFreeAsync(parts, stream);
}
