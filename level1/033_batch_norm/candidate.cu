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

// Block (i, j) measures feature i in sample j and every gridDim.y-th after it; n elements in each.
__global__ void measure(const float* x, Moments* parts, int64_t samples, int64_t n) {
  Moments m = {0, 0, 0};
  for (int64_t sample = blockIdx.y; sample < samples; sample += gridDim.y) {
    const float* values = x + (sample * gridDim.x + blockIdx.x) * n;
#pragma unroll 4
    for (int64_t i = threadIdx.x; i < n; i += 1024) m = merge(m, {1, values[i], 0});
  }
  m = merge_block(m);
  if (threadIdx.x == 0) parts[int64_t{blockIdx.x} * gridDim.y + blockIdx.y] = m;
}

// Block (i, j) normalises the same elements.
__global__ void normalise(const float* x, const float* weight, const float* bias,
                          const Moments* parts, float* y, int64_t samples, int64_t n) {
  const Moments none = {0, 0, 0};
  parts += int64_t{blockIdx.x} * gridDim.y;
  const Moments m = merge_block(threadIdx.x < gridDim.y ? parts[threadIdx.x] : none);
  const float scale = weight[blockIdx.x] / sqrtf(m.squares / m.count + 1e-5f);
  const float offset = bias[blockIdx.x];
  for (int64_t sample = blockIdx.y; sample < samples; sample += gridDim.y) {
    const int64_t first = (sample * gridDim.x + blockIdx.x) * n;
#pragma unroll 4
    for (int64_t i = first + threadIdx.x; i < first + n; i += 1024) {
      y[i] = (x[i] - m.mean) * scale + offset;
    }
  }
}

void task::launch(const Sizes& s, const float* x, const float* weight, const float* bias, float* y,
                  cudaStream_t stream) {
  const int64_t n = s.dim1 * s.dim2;
  const dim3 grid(s.features, s.batch_size < 1024 ? s.batch_size : 1024);
  void* parts;
  cudaMallocAsync(&parts, sizeof(Moments) * grid.x * grid.y, stream);
  measure<<<grid, 1024, 0, stream>>>(x, static_cast<Moments*>(parts), s.batch_size, n);
  normalise<<<grid, 1024, 0, stream>>>(x, weight, bias, static_cast<Moments*>(parts), y,
                                       s.batch_size, n);
  cudaFreeAsync(parts, stream);
}
