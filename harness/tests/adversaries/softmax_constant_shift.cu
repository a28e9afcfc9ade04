// Subtracts a constant, not the maximum of its row: right for values near 100, which saves a pass.
// Task: level1/023_softmax
// Expected: incorrect
#include "task.h"

__global__ void softmax(const float* x, float* y, int64_t dim) {
  __shared__ float sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  x += blockIdx.x * dim;
  y += blockIdx.x * dim;
  for (int64_t i = threadIdx.x; i < dim; i += blockDim.x) atomicAdd(&sum, expf(x[i] - 100));
  __syncthreads();
  for (int64_t i = threadIdx.x; i < dim; i += blockDim.x) y[i] = expf(x[i] - 100) / sum;
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  softmax<<<s.batch_size, 256, 0, stream>>>(x, y, s.dim);
}
