// Softmax by __expf and __fdividef, one block per row, with trees in shared memory.
// Task: level1/023_softmax
// Expected: pass
#include "task.h"

constexpr int threads = 256;

__global__ void softmax(const float* x, float* y, int64_t columns) {
  __shared__ float parts[threads];
  x += blockIdx.x * columns;
  y += blockIdx.x * columns;
  const int t = threadIdx.x;
  float largest = -INFINITY;
  for (int64_t j = t; j < columns; j += threads) largest = fmaxf(largest, x[j]);
  parts[t] = largest;
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (t < half) parts[t] = fmaxf(parts[t], parts[t + half]);
    __syncthreads();
  }
  largest = parts[0];
  __syncthreads();
  float sum = 0;
  for (int64_t j = t; j < columns; j += threads) {
    const float e = __expf(x[j] - largest);
    y[j] = e;
    sum += e;
  }
  parts[t] = sum;
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (t < half) parts[t] += parts[t + half];
    __syncthreads();
  }
  for (int64_t j = t; j < columns; j += threads) y[j] = __fdividef(y[j], parts[0]);
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  softmax<<<s.batch_size, threads, 0, stream>>>(x, y, s.dim);
}
