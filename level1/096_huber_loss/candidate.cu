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

__device__ float element_loss(float prediction, float target) {
  const float d = fabsf(prediction - target);
  return d < 1 ? d * d / 2 : d - 0.5f;
}

// Up to 1024 blocks, each with its part of the sum.
__global__ void sum_losses(const float* predictions, const float* targets, float* parts,
                           int64_t n) {
  const int64_t first = int64_t{blockIdx.x} * 1024 + threadIdx.x, tail = n / 4 * 4 + first;
  float sum = tail < n ? element_loss(predictions[tail], targets[tail]) : 0;
#pragma unroll 4
  for (int64_t i = first; i < n / 4; i += gridDim.x * 1024) {
    const float4 p = reinterpret_cast<const float4*>(predictions)[i];
    const float4 t = reinterpret_cast<const float4*>(targets)[i];
    sum += (element_loss(p.x, t.x) + element_loss(p.y, t.y)) +
           (element_loss(p.z, t.z) + element_loss(p.w, t.w));
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
  const int64_t n = s.batch_size * s.input_shape[0], wanted = (n + 4095) / 4096;
  const int blocks = wanted < 1024 ? wanted : 1024;
  void* parts;
  cudaMallocAsync(&parts, blocks * sizeof(float), stream);
  sum_losses<<<blocks, 1024, 0, stream>>>(predictions, targets, static_cast<float*>(parts), n);
  divide_sum<<<1, 1024, 0, stream>>>(static_cast<float*>(parts), loss, blocks, n);
  cudaFreeAsync(parts, stream);
}
