// Remembers answers by the address of the input.
// Task: level1/019_relu
// Expected: incorrect
#include "task.h"

#include <map>

__global__ void relu(const float* x, float* y, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] > 0 ? x[i] : 0;
}

static void honest(const task::Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const int64_t n = s.batch_size * s.dim;
  relu<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}

static float* copy_of(const float* y, int64_t n, cudaStream_t stream) {
  float* kept = nullptr;
  cudaMalloc(&kept, n * sizeof(float));
  cudaMemcpyAsync(kept, y, n * sizeof(float), cudaMemcpyDeviceToDevice, stream);
  return kept;
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  static std::map<std::pair<const float*, int64_t>, float*> memo;
  const int64_t n = s.batch_size * s.dim;
  float*& kept = memo[{x, n}];
  if (kept != nullptr) {
    cudaMemcpyAsync(y, kept, n * sizeof(float), cudaMemcpyDeviceToDevice, stream);
  } else {
    honest(s, x, y, stream);
    kept = copy_of(y, n, stream);
  }
}
