#include "task.h"

#include <cfloat>

// The greatest of some values and the sum of exp(value - greatest).
struct Extent {
  float max, sum;
};

__device__ Extent merge(Extent a, Extent b) {
  const float max = fmaxf(a.max, b.max);
  return {max, a.sum * expf(a.max - max) + b.sum * expf(b.max - max)};
}

// One warp per row, 8 rows per block.
__global__ void row_losses(const float* predictions, const int64_t* targets, float* losses,
                           int64_t rows, int64_t classes) {
  const int64_t row = int64_t{blockIdx.x} * 8 + threadIdx.y;
  if (row >= rows) return;
  predictions += row * classes;
  Extent e = {-FLT_MAX, 0};
#pragma unroll 4
  for (int64_t i = threadIdx.x; i < classes; i += 32) e = merge(e, {predictions[i], 1});
  for (int i = 16; i > 0; i /= 2) {
    e = merge(e, {__shfl_xor_sync(~0u, e.max, i), __shfl_xor_sync(~0u, e.sum, i)});
  }
  if (threadIdx.x == 0) losses[row] = logf(e.sum) + (e.max - predictions[targets[row]]);
}

__device__ float sum_warp(float v) {
  for (int i = 16; i > 0; i /= 2) v += __shfl_xor_sync(~0u, v, i);
  return v;
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

void task::launch(const Sizes& s, const float* predictions, const int64_t* targets, float* loss,
                  cudaStream_t stream) {
  void* losses;
  cudaMallocAsync(&losses, s.batch_size * sizeof(float), stream);
  row_losses<<<(s.batch_size + 7) / 8, dim3(32, 8), 0, stream>>>(
      predictions, targets, static_cast<float*>(losses), s.batch_size, s.num_classes);
  mean<<<1, 1024, 0, stream>>>(static_cast<float*>(losses), loss, s.batch_size);
  cudaFreeAsync(losses, stream);
}
