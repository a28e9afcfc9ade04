// Adds eps to the deviation, not to the variance.
// Task: level1/035_group_norm
// Expected: incorrect
#include "task.h"

__global__ void group_norm(const float* x, const float* weight, const float* bias, float* y,
                           int64_t groups, int64_t features, int64_t n) {
  __shared__ double sum, squares;
  if (threadIdx.x == 0) sum = squares = 0;
  __syncthreads();
  const int64_t size = features * n;
  x += blockIdx.x * size;
  y += blockIdx.x * size;
  for (int64_t i = threadIdx.x; i < size; i += blockDim.x) atomicAdd(&sum, x[i]);
  __syncthreads();
  const double mean = sum / size;
  for (int64_t i = threadIdx.x; i < size; i += blockDim.x) {
    atomicAdd(&squares, (x[i] - mean) * (x[i] - mean));
  }
  __syncthreads();
  const double deviation = sqrt(squares / size) + 1e-5;
  for (int64_t i = threadIdx.x; i < size; i += blockDim.x) {
    const int64_t feature = blockIdx.x % groups * features + i / n;
    y[i] = static_cast<float>((x[i] - mean) / deviation) * weight[feature] + bias[feature];
  }
}

void task::launch(const Sizes& s, const float* x, const float* weight, const float* bias, float* y,
                  cudaStream_t stream) {
  group_norm<<<s.batch_size * s.num_groups, 256, 0, stream>>>(
      x, weight, bias, y, s.num_groups, s.features / s.num_groups, s.dim1 * s.dim2);
}
