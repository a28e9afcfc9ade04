// Batch norm in two passes, mean and then variance, one block per feature.
// Task: level1/033_batch_norm
// Expected: pass
#include "task.h"

constexpr int threads = 256;

__device__ float sum_of_block(float v) {
  __shared__ float parts[threads];
  __syncthreads();
  parts[threadIdx.x] = v;
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
    __syncthreads();
  }
  return parts[0];
}

__global__ void batch_norm(const float* x, const float* weight, const float* bias, float* y,
                           int64_t batch, int64_t features, int64_t pixels) {
  const int64_t feature = blockIdx.x, n = batch * pixels;
  const auto place = [&](int64_t i) {
    return (i / pixels * features + feature) * pixels + i % pixels;
  };
  float sum = 0;
  for (int64_t i = threadIdx.x; i < n; i += threads) sum += x[place(i)];
  const float mean = sum_of_block(sum) / n;
  float squares = 0;
  for (int64_t i = threadIdx.x; i < n; i += threads) {
    const float d = x[place(i)] - mean;
    squares = fmaf(d, d, squares);
  }
  const float scale = rsqrtf(sum_of_block(squares) / n + 1e-5f) * weight[feature];
  for (int64_t i = threadIdx.x; i < n; i += threads) {
    y[place(i)] = (x[place(i)] - mean) * scale + bias[feature];
  }
}

void task::launch(const Sizes& s, const float* x, const float* weight, const float* bias, float* y,
                  cudaStream_t stream) {
  batch_norm<<<s.features, threads, 0, stream>>>(x, weight, bias, y, s.batch_size, s.features,
                                                 s.dim1 * s.dim2);
}
