// Layer norm by Welford's running mean, one block per sample; one thread merges the others' parts.
// Task: level1/040_layer_norm
// Expected: pass
#include "task.h"

__global__ void layer_norm(const float* x, const float* weight, const float* bias, float* y,
                           int64_t n) {
  extern __shared__ float parts[];  // count, mean and squares of each thread
  __shared__ float mean, scale;
  x += blockIdx.x * n;
  y += blockIdx.x * n;
  float count = 0, m = 0, squares = 0;
  for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
    const float delta = x[i] - m;
    m += delta / ++count;
    squares += delta * (x[i] - m);
  }
  parts[3 * threadIdx.x] = count;
  parts[3 * threadIdx.x + 1] = m;
  parts[3 * threadIdx.x + 2] = squares;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned t = 1; t < blockDim.x; ++t) {
      if (parts[3 * t] == 0) break;
      const float delta = parts[3 * t + 1] - m, all = count + parts[3 * t];
      m += delta * parts[3 * t] / all;
      squares += parts[3 * t + 2] + delta * delta * count * parts[3 * t] / all;
      count = all;
    }
    mean = m;
    scale = rsqrtf(squares / count + 1e-5f);
  }
  __syncthreads();
  for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
    y[i] = (x[i] - mean) * scale * weight[i] + bias[i];
  }
}

void task::launch(const Sizes& s, const float* x, const float* weight, const float* bias, float* y,
                  cudaStream_t stream) {
  const int threads = 256;
  layer_norm<<<s.batch_size, threads, 3 * threads * sizeof(float), stream>>>(
      x, weight, bias, y, s.features * s.dim1 * s.dim2);
}
