// Overwrites the maximum of its row before all threads have read it.
// Task: level1/023_softmax
// Expected: incorrect
// Says: in some orders of threads
// Backends: cpu
#include "task.h"

#include <cmath>

template <class Op>
__device__ float combine(float* values, Op op) {
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      values[threadIdx.x] = op(values[threadIdx.x], values[threadIdx.x + half]);
    }
    __syncthreads();
  }
  return values[0];
}

__global__ void softmax(const float* x, float* y, int64_t columns) {
  __shared__ float values[256];
  x += blockIdx.x * columns;
  y += blockIdx.x * columns;
  float max = -INFINITY, sum = 0;
  for (int64_t i = threadIdx.x; i < columns; i += 256) max = fmaxf(max, x[i]);
  values[threadIdx.x] = max;
  max = combine(values, [](float a, float b) { return fmaxf(a, b); });
  for (int64_t i = threadIdx.x; i < columns; i += 256) sum += expf(x[i] - max);
  values[threadIdx.x] = sum;
  sum = combine(values, [](float a, float b) { return a + b; });
  for (int64_t i = threadIdx.x; i < columns; i += 256) y[i] = expf(x[i] - max) / sum;
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  softmax<<<s.batch_size, 256, 0, stream>>>(x, y, s.dim);
}
