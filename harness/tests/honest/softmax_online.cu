// Softmax with maximum and sum in one pass (online), one block per row.
// Task: level1/023_softmax
// Expected: pass
#include "task.h"

constexpr int threads = 128;

// Adds a maximum and a sum of exponentials to another.
__device__ void merge(float& largest, float& sum, float other_largest, float other_sum) {
  const float top = fmaxf(largest, other_largest);
  if (top == -INFINITY) return;
  sum = sum * expf(largest - top) + other_sum * expf(other_largest - top);
  largest = top;
}

__global__ void softmax(const float* x, float* y, int64_t columns) {
  __shared__ float largest_of[threads], sum_of[threads];
  x += blockIdx.x * columns;
  y += blockIdx.x * columns;
  float largest = -INFINITY, sum = 0;
  for (int64_t j = threadIdx.x; j < columns; j += threads) merge(largest, sum, x[j], 1);
  largest_of[threadIdx.x] = largest;
  sum_of[threadIdx.x] = sum;
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      merge(largest_of[threadIdx.x], sum_of[threadIdx.x], largest_of[threadIdx.x + half],
            sum_of[threadIdx.x + half]);
    }
    __syncthreads();
  }
  const float factor = 1 / sum_of[0];
  for (int64_t j = threadIdx.x; j < columns; j += threads)
    y[j] = expf(x[j] - largest_of[0]) * factor;
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  softmax<<<s.batch_size, threads, 0, stream>>>(x, y, s.dim);
}
