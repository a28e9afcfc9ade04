// Its first block clears what all blocks then add to.
// Task: level1/094_mse_loss
// Expected: incorrect
// Says: in some orders of threads
// Backends: cpu
#include "task.h"

__global__ void mse(const float* p, const float* t, float* loss, int64_t n) {
  if (blockIdx.x == 0 && threadIdx.x == 0) *loss = 0;
  __syncthreads();
  float own = 0;
  for (int64_t i = blockIdx.x * int64_t{256} + threadIdx.x; i < n; i += gridDim.x * int64_t{256})
    own += (p[i] - t[i]) * (p[i] - t[i]);
  for (int step = 16; step > 0; step /= 2) own += __shfl_down_sync(0xffffffff, own, step);
  if (threadIdx.x % 32 == 0) atomicAdd(loss, own / n);
}

void task::launch(const Sizes& s, const float* predictions, const float* targets, float* loss,
                  cudaStream_t stream) {
  mse<<<16, 256, 0, stream>>>(predictions, targets, loss, s.batch_size * s.input_shape[0]);
}
