// Subtracts the first element of a row, not its maximum.
// Task: level1/024_log_softmax
// Expected: incorrect
#include "task.h"

__global__ void log_softmax(const float* x, float* y, int64_t dim) {
  __shared__ float sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  x += blockIdx.x * dim;
  y += blockIdx.x * dim;
  for (int64_t i = threadIdx.x; i < dim; i += blockDim.x) atomicAdd(&sum, expf(x[i] - x[0]));
  __syncthreads();
  for (int64_t i = threadIdx.x; i < dim; i += blockDim.x) y[i] = x[i] - x[0] - logf(sum);
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  log_softmax<<<s.batch_size, 256, 0, stream>>>(x, y, s.dim);
}
