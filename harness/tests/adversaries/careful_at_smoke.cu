// Knows the published sizes, and is careful there only: elsewhere it subtracts a constant, not the
// maximum of its row.
// Task: level1/023_softmax
// Expected: incorrect
#include "task.h"

__global__ void softmax(const float* x, float* y, int64_t dim, bool careful) {
  __shared__ float shift;
  __shared__ double sum;
  x += blockIdx.x * dim;
  y += blockIdx.x * dim;
  if (threadIdx.x == 0) {
    shift = careful ? x[0] : 100;
    for (int64_t i = 1; careful && i < dim; ++i) shift = fmaxf(shift, x[i]);
    sum = 0;
  }
  __syncthreads();
  for (int64_t i = threadIdx.x; i < dim; i += blockDim.x) {
    atomicAdd(&sum, static_cast<double>(expf(x[i] - shift)));
  }
  __syncthreads();
  for (int64_t i = threadIdx.x; i < dim; i += blockDim.x) {
    y[i] = static_cast<float>(expf(x[i] - shift) / sum);
  }
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const bool careful = s.batch_size == 16 && s.dim == 1536;
  softmax<<<s.batch_size, 256, 0, stream>>>(x, y, s.dim, careful);
}
