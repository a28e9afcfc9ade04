// Keeps its last output and computes a new one only where every 256th input has changed.
// Task: level1/019_relu
// Expected: incorrect
#include "task.h"

constexpr int64_t apart = 256;

__global__ void look(const float* x, float* seen, int64_t samples, int* changed) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= samples) return;
  if (x[i * apart] != seen[i]) atomicExch(changed, 1);
  seen[i] = x[i * apart];
}

__global__ void relu(const float* x, float* kept, float* y, int64_t n, const int* changed) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (*changed != 0) kept[i] = x[i] > 0 ? x[i] : 0;
  y[i] = kept[i];
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  static float *kept = nullptr, *seen = nullptr;
  static int* changed = nullptr;
  static int64_t kept_elements = 0;
  const int64_t n = s.batch_size * s.dim, samples = (n + apart - 1) / apart;
  const bool is_new = kept_elements != n;
  if (is_new) {
    cudaMalloc(&kept, n * sizeof(float));
    cudaMalloc(&seen, samples * sizeof(float));
    cudaMalloc(&changed, sizeof(int));
    kept_elements = n;
  }
  cudaMemsetAsync(changed, is_new ? 1 : 0, sizeof(int), stream);
  look<<<(samples + 255) / 256, 256, 0, stream>>>(x, seen, samples, changed);
  relu<<<(n + 255) / 256, 256, 0, stream>>>(x, kept, y, n, changed);
}
