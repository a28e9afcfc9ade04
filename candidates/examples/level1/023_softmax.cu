// NaN: does not subtract the row's maximum, so that exp() overflows and infinity divides infinity.
// Expected: incorrect
#include "task.h"

// One block of 256 threads per row.
__global__ void softmax(const float* x, float* y, int64_t dim) {
  __shared__ float sums[256];
  x += blockIdx.x * dim;
  y += blockIdx.x * dim;
  float sum = 0;
  for (int64_t i = threadIdx.x; i < dim; i += 256) sum += expf(x[i]);
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  for (int64_t i = threadIdx.x; i < dim; i += 256) y[i] = expf(x[i]) / sums[0];
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  softmax<<<s.batch_size, 256, 0, stream>>>(x, y, s.dim);
}
