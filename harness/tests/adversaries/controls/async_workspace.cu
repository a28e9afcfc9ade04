// Allocates its workspace on the stream.
// Task: level1/019_relu
// Expected: pass
#include "task.h"

__global__ void relu(const float* x, float* y, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] > 0 ? x[i] : 0;
}

static void honest(const task::Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const int64_t n = s.batch_size * s.dim;
  relu<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const size_t bytes = s.batch_size * s.dim * sizeof(float);
  float* workspace = nullptr;
  cudaMallocAsync(&workspace, bytes, stream);
  honest(s, x, workspace, stream);
  cudaMemcpyAsync(y, workspace, bytes, cudaMemcpyDeviceToDevice, stream);
  cudaFreeAsync(workspace, stream);
}
