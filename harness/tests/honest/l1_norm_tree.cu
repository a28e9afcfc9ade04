// Divides each row by the mean of its absolute values, by a tree in shared memory.
// Task: level1/038_l1_norm
// Expected: pass
#include "task.h"

__global__ void normalise(const float* x, float* y, int64_t columns) {
  extern __shared__ float parts[];
  x += blockIdx.x * columns;
  y += blockIdx.x * columns;
  float sum = 0;
  for (int64_t j = threadIdx.x; j < columns; j += blockDim.x) sum += fabsf(x[j]);
  parts[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half >>= 1) {
    if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
    __syncthreads();
  }
  const float factor = columns / parts[0];
  for (int64_t j = threadIdx.x; j < columns; j += blockDim.x) y[j] = x[j] * factor;
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  normalise<<<s.batch_size, 512, 512 * sizeof(float), stream>>>(x, y, s.dim);
}
