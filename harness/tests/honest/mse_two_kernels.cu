// Mean squared error: partial sums by blocks in a grid-stride loop, their sum by one more block.
// Task: level1/094_mse_loss
// Expected: pass
#include "task.h"

constexpr int threads = 256, blocks = 1024;

__global__ void partial_sums(const float* a, const float* b, float* parts, int64_t n) {
  __shared__ float shared[threads];
  float sum = 0;
  for (int64_t i = blockIdx.x * threads + threadIdx.x; i < n; i += blocks * threads) {
    const float d = a[i] - b[i];
    sum += d * d;
  }
  shared[threadIdx.x] = sum;
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) parts[blockIdx.x] = shared[0];
}

__global__ void finish(const float* parts, float* loss, int64_t n) {
  __shared__ float shared[blocks];
  shared[threadIdx.x] = parts[threadIdx.x];
  __syncthreads();
  for (int half = blocks / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) *loss = shared[0] / static_cast<float>(n);
}

void task::launch(const Sizes& s, const float* predictions, const float* targets, float* loss,
                  cudaStream_t stream) {
  const int64_t n = s.batch_size * s.input_shape[0];
  float* parts = nullptr;
  cudaMallocAsync(&parts, blocks * sizeof(float), stream);
  partial_sums<<<blocks, threads, 0, stream>>>(predictions, targets, parts, n);
  finish<<<1, blocks, 0, stream>>>(parts, loss, n);
  cudaFreeAsync(parts, stream);
}
