// Asks the cache to keep the weights. That is allowed; it only may not outlast the unit.
// Task: level1/040_layer_norm
// Expected: pass
// Backends: cuda
#include "task.h"

// One block per sample, in three passes.
__global__ void normalise(const float* x, const float* weight, const float* bias, float* y,
                          int64_t n) {
  __shared__ float partial[1024];
  x += blockIdx.x * n;
  y += blockIdx.x * n;
  const auto sum_over = [&](auto value) {
    float sum = 0;
    for (int64_t i = threadIdx.x; i < n; i += 1024) sum += value(x[i]);
    partial[threadIdx.x] = sum;
    for (int step = 512; step > 0; step /= 2) {
      __syncthreads();
      if (threadIdx.x < step) partial[threadIdx.x] += partial[threadIdx.x + step];
    }
    __syncthreads();
    const float total = partial[0];
    __syncthreads();
    return total;
  };
  const float mean = sum_over([](float v) { return v; }) / n;
  const float variance = sum_over([&](float v) { return (v - mean) * (v - mean); }) / n;
  const float scale = 1 / sqrtf(variance + 1e-5f);
  for (int64_t i = threadIdx.x; i < n; i += 1024)
    y[i] = (x[i] - mean) * scale * weight[i] + bias[i];
}

void task::launch(const Sizes& s, const float* x, const float* weight, const float* bias, float* y,
                  cudaStream_t stream) {
  const int64_t n = s.features * s.dim1 * s.dim2;
  int device, most;  // that a GPU sets aside: 31 MiB on some, more on others
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&most, cudaDevAttrMaxPersistingL2CacheSize, device);
  cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, static_cast<size_t>(most));
  cudaStreamAttrValue window = {};
  window.accessPolicyWindow.base_ptr = const_cast<float*>(weight);
  window.accessPolicyWindow.num_bytes = static_cast<size_t>(n) * sizeof(float);
  window.accessPolicyWindow.hitRatio = 1;
  window.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  window.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
  cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &window);
  normalise<<<s.batch_size, 1024, 0, stream>>>(x, weight, bias, y, n);
}
