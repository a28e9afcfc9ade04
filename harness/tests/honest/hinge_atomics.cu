// Hinge loss: each block adds its sum by an atomic, and the mean is taken afterwards.
// Task: level1/100_hinge_loss
// Expected: pass
#include "task.h"

__global__ void sum_hinges(const float* p, const float* t, float* loss, int64_t n,
                           int64_t columns) {
  __shared__ float sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  float mine = 0;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += int64_t{gridDim.x} * blockDim.x) {
    mine += fmaxf(1 - p[i] * t[i % columns], 0);
  }
  atomicAdd(&sum, mine);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(loss, sum);
}

__global__ void divide(float* loss, int64_t n) { *loss /= static_cast<float>(n); }

void task::launch(const Sizes& s, const float* predictions, const float* targets, float* loss,
                  cudaStream_t stream) {
  const int64_t n = s.batch_size * s.input_shape[0];
  cudaMemsetAsync(loss, 0, sizeof(float), stream);
  sum_hinges<<<512, 256, 0, stream>>>(predictions, targets, loss, n, s.input_shape[0]);
  divide<<<1, 1, 0, stream>>>(loss, n);
}
