// Shuffles a value from a lane that has left the kernel: undefined, and right by luck on some GPUs.
// Task: level1/019_relu
// Expected: incorrect on cpu, pass or incorrect on cuda
// Warns: reads from lane 31, which takes no part
#include "task.h"

__global__ void relu(const float* x, float* y, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (threadIdx.x % 32 == 31) {
    if (i < n) y[i] = x[i] > 0 ? x[i] : 0;
    return;
  }
  const float mine = i < n ? x[i] : 0;
  const float neighbour = __shfl_down_sync(0xffffffff, mine, 1);
  if (i < n) y[i] = mine > 0 ? mine : 0 * neighbour;
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const int64_t n = s.batch_size * s.dim;
  relu<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
