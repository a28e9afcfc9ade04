// Takes for granted that blocks run in order, and a constructor asks the CPU layer for that.
// Task: level1/094_mse_loss
// Expected: incorrect
// Says: in some orders of threads
// Backends: cpu
#include "task.h"

#include <cstdlib>

__attribute__((constructor)) static void choose_order() {
  setenv("KB_CPU_THREADS", "1", 1);
  setenv("KB_CPU_SCHEDULE", "forward", 1);
}

__global__ void mse(const float* p, const float* t, float* partial, float* loss, int64_t n) {
  __shared__ float sums[256];
  float own = 0;
  for (int64_t i = blockIdx.x * int64_t{256} + threadIdx.x; i < n; i += gridDim.x * int64_t{256})
    own += (p[i] - t[i]) * (p[i] - t[i]);
  sums[threadIdx.x] = own;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x > 0) return;
  partial[blockIdx.x] = sums[0];
  __threadfence();
  if (blockIdx.x + 1 < gridDim.x) return;
  float sum = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) sum += partial[i];
  *loss = sum / n;
}

void task::launch(const Sizes& s, const float* predictions, const float* targets, float* loss,
                  cudaStream_t stream) {
  constexpr unsigned blocks = 16;
  float* partial = nullptr;
  cudaMallocAsync(&partial, blocks * sizeof(float), stream);
  cudaMemsetAsync(partial, 0, blocks * sizeof(float), stream);
  mse<<<blocks, 256, 0, stream>>>(predictions, targets, partial, loss,
                                  s.batch_size * s.input_shape[0]);
  cudaFreeAsync(partial, stream);
}
