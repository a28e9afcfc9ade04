// Asks for more shared memory than is given by default.
// Task: level1/019_relu
// Expected: pass
#include "task.h"

constexpr int tile = 12288;  // 48 KiB of floats, and one float more is asked for below

__global__ void relu(const float* x, float* y, int64_t n) {
  extern __shared__ float staged[];
  const int64_t first = int64_t{blockIdx.x} * tile;
  for (int i = threadIdx.x; i < tile && first + i < n; i += blockDim.x)
    staged[i + 1] = x[first + i];
  __syncthreads();
  for (int i = threadIdx.x; i < tile && first + i < n; i += blockDim.x) {
    y[first + i] = staged[i + 1] > 0 ? staged[i + 1] : 0;
  }
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  constexpr int bytes = (tile + 1) * sizeof(float);
  const int64_t n = s.batch_size * s.dim;
  cudaFuncSetAttribute(relu, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  relu<<<(n + tile - 1) / tile, 256, bytes, stream>>>(x, y, n);
}
