// Repacks the weights in prepare(), where it may.
// Task: level1/040_layer_norm
// Expected: pass
#include "task.h"

static float* packed = nullptr;

__global__ void interleave(const float* weight, const float* bias, float* both, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  both[2 * i] = weight[i];
  both[2 * i + 1] = bias[i];
}

// One block of 32 threads per sample.
__global__ void layer_norm(const float* x, const float* both, float* y, int64_t n) {
  __shared__ double parts[32];
  x += blockIdx.x * n;
  y += blockIdx.x * n;
  double sum = 0, squares = 0;
  for (int64_t i = threadIdx.x; i < n; i += 32) sum += x[i];
  parts[threadIdx.x] = sum;
  __syncthreads();
  double mean = 0;
  for (int i = 0; i < 32; ++i) mean += parts[i] / n;
  __syncthreads();
  for (int64_t i = threadIdx.x; i < n; i += 32) squares += (x[i] - mean) * (x[i] - mean);
  parts[threadIdx.x] = squares;
  __syncthreads();
  double variance = 0;
  for (int i = 0; i < 32; ++i) variance += parts[i] / n;
  const double scale = 1 / sqrt(variance + 1e-5);
  for (int64_t i = threadIdx.x; i < n; i += 32)
    y[i] = (x[i] - mean) * scale * both[2 * i] + both[2 * i + 1];
}

void task::prepare(const Sizes& s, const float* weight, const float* bias, cudaStream_t stream) {
  const int64_t n = s.features * s.dim1 * s.dim2;
  cudaFree(packed);
  cudaMalloc(&packed, 2 * n * sizeof(float));
  interleave<<<(n + 255) / 256, 256, 0, stream>>>(weight, bias, packed, n);
}

void task::launch(const Sizes& s, const float* x, const float*, const float*, float* y,
                  cudaStream_t stream) {
  layer_norm<<<s.batch_size, 32, 0, stream>>>(x, packed, y, s.features * s.dim1 * s.dim2);
}
