// One thread of each warp adds to the loss without an atomic.
// Task: level1/094_mse_loss
// Expected: incorrect
// Says: in some orders of threads
// Backends: cpu
#include "task.h"

__global__ void mse(const float* p, const float* t, float* loss, int64_t n) {
  float own = 0;
  for (int64_t i = threadIdx.x; i < n; i += 256) own += (p[i] - t[i]) * (p[i] - t[i]);
  for (int step = 16; step > 0; step /= 2) own += __shfl_down_sync(0xffffffff, own, step);
  if (threadIdx.x % 32 == 0) *loss += own / n;
}

void task::launch(const Sizes& s, const float* predictions, const float* targets, float* loss,
                  cudaStream_t stream) {
  cudaMemsetAsync(loss, 0, sizeof(float), stream);
  mse<<<1, 256, 0, stream>>>(predictions, targets, loss, s.batch_size * s.input_shape[0]);
}
