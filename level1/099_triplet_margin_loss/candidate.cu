#include "task.h"

__device__ float sum_warp(float v) {
  for (int i = 16; i > 0; i /= 2) v += __shfl_xor_sync(~0u, v, i);
  return v;
}

// One warp per row, 8 rows per block.
__global__ void row_losses(const float* anchor, const float* positive, const float* negative,
                           float* losses, int64_t rows, int64_t n, float margin) {
  const int64_t row = int64_t{blockIdx.x} * 8 + threadIdx.y;
  if (row >= rows) return;
  float near = 0, far = 0;
#pragma unroll 4
  for (int64_t i = row * n + threadIdx.x; i < (row + 1) * n; i += 32) {
    const float p = anchor[i] - positive[i] + 1e-6f, q = anchor[i] - negative[i] + 1e-6f;
    near = fmaf(p, p, near);
    far = fmaf(q, q, far);
  }
  const float loss = sqrtf(sum_warp(near)) - sqrtf(sum_warp(far)) + margin;
  if (threadIdx.x == 0) losses[row] = fmaxf(loss, 0);
}

// One block of 32 warps.
__global__ void mean(const float* losses, float* loss, int64_t rows) {
  __shared__ float sums[32];
  float sum = 0;
  for (int64_t i = threadIdx.x; i < rows; i += 1024) sum += losses[i];
  sum = sum_warp(sum);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = sum_warp(sums[threadIdx.x % 32]);
  if (threadIdx.x == 0) *loss = sum / rows;
}

void task::launch(const Sizes& s, const float* anchor, const float* positive, const float* negative,
                  float* loss, cudaStream_t stream) {
  void* losses;
  cudaMallocAsync(&losses, s.batch_size * sizeof(float), stream);
  row_losses<<<(s.batch_size + 7) / 8, dim3(32, 8), 0, stream>>>(
      anchor, positive, negative, static_cast<float*>(losses), s.batch_size, s.input_shape[0],
      static_cast<float>(s.margin));
  mean<<<1, 1024, 0, stream>>>(static_cast<float*>(losses), loss, s.batch_size);
  cudaFreeAsync(losses, stream);
}
