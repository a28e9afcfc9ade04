#include "task.h"

// Number, mean and sum of squared deviations from the mean of some values.
struct Moments {
  float count, mean, squares;
};

__device__ Moments merge(Moments a, Moments b) {
  const float count = a.count + b.count, delta = b.mean - a.mean;
  const float share = count > 0 ? b.count / count : 0;
  return {count, a.mean + delta * share, a.squares + b.squares + delta * delta * a.count * share};
}

__device__ Moments merge_warp(Moments m) {
  for (int i = 16; i > 0; i /= 2) {
    m = merge(m, {__shfl_xor_sync(~0u, m.count, i), __shfl_xor_sync(~0u, m.mean, i),
                  __shfl_xor_sync(~0u, m.squares, i)});
  }
  return m;
}

// The same result for all 1024 threads.
__device__ Moments merge_block(Moments m) {
  __shared__ Moments warps[32];
  m = merge_warp(m);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = m;
  __syncthreads();
  return merge_warp(warps[threadIdx.x % 32]);
}

// Block (i, j) measures part j of sample i; n elements per sample, gridDim.y parts.
__global__ void measure(const float* x, Moments* parts, int64_t n) {
  x += blockIdx.x * n;
  Moments m = {0, 0, 0};
  for (int64_t i = blockIdx.y * 1024 + threadIdx.x; i < n; i += gridDim.y * 1024) {
    m = merge(m, {1, x[i], 0});
  }
  m = merge_block(m);
  if (threadIdx.x == 0) parts[blockIdx.x * gridDim.y + blockIdx.y] = m;
}

// Block (i, j) normalises part j of sample i.
__global__ void normalise(const float* x, const float* weight, const float* bias,
                          const Moments* parts, float* y, int64_t n) {
  x += blockIdx.x * n;
  y += blockIdx.x * n;
  const Moments none = {0, 0, 0};
  const Moments m =
      merge_block(threadIdx.x < gridDim.y ? parts[blockIdx.x * gridDim.y + threadIdx.x] : none);
  const float scale = 1 / sqrtf(m.squares / m.count + 1e-5f);
  for (int64_t i = blockIdx.y * 1024 + threadIdx.x; i < n; i += gridDim.y * 1024) {
    y[i] = (x[i] - m.mean) * scale * weight[i] + bias[i];
  }
}

void task::launch(const Sizes& s, const float* x, const float* weight, const float* bias, float* y,
                  cudaStream_t stream) {
  const int64_t n = s.features * s.dim1 * s.dim2, wanted = (n + 16383) / 16384;
  const dim3 grid(s.batch_size, wanted < 1024 ? wanted : 1024);
  void* parts;
  cudaMallocAsync(&parts, grid.x * grid.y * sizeof(Moments), stream);
  measure<<<grid, 1024, 0, stream>>>(x, static_cast<Moments*>(parts), n);
  normalise<<<grid, 1024, 0, stream>>>(x, weight, bias, static_cast<Moments*>(parts), y, n);
  cudaFreeAsync(parts, stream);
}
