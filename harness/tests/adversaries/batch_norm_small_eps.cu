// Has a hundredth of eps.
// Task: level1/033_batch_norm
// Expected: incorrect
#include "task.h"

__global__ void batch_norm(task::Sizes s, const float* x, const float* weight, const float* bias,
                           float* y) {
  __shared__ double sum, squares;
  if (threadIdx.x == 0) sum = squares = 0;
  __syncthreads();
  const int64_t n = s.dim1 * s.dim2, feature = blockIdx.x, size = s.batch_size * n;
  const auto at = [&](int64_t i) { return (i / n * s.features + feature) * n + i % n; };
  for (int64_t i = threadIdx.x; i < size; i += blockDim.x) atomicAdd(&sum, x[at(i)]);
  __syncthreads();
  const double mean = sum / size;
  for (int64_t i = threadIdx.x; i < size; i += blockDim.x) {
    atomicAdd(&squares, (x[at(i)] - mean) * (x[at(i)] - mean));
  }
  __syncthreads();
  const double deviation = sqrt(squares / size + 1e-7);
  for (int64_t i = threadIdx.x; i < size; i += blockDim.x) {
    y[at(i)] = static_cast<float>((x[at(i)] - mean) / deviation) * weight[feature] + bias[feature];
  }
}

void task::launch(const Sizes& s, const float* x, const float* weight, const float* bias, float* y,
                  cudaStream_t stream) {
  batch_norm<<<s.features, 256, 0, stream>>>(s, x, weight, bias, y);
}
