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

// One block per group of `features` times n elements; a sample has `groups`. It reads x twice: for
// the moments, then for the quotients.
__global__ void group_norm(const float* x, const float* weight, const float* bias, float* y,
                           int64_t groups, int64_t features, int64_t n) {
  x += blockIdx.x * features * n;
  y += blockIdx.x * features * n;
  Moments m = {0, 0, 0};
#pragma unroll 4
  for (int64_t i = threadIdx.x; i < features * n; i += 1024) m = merge(m, {1, x[i], 0});
  m = merge_block(m);
  const float scale = 1 / sqrtf(m.squares / m.count + 1e-5f);
  for (int64_t f = 0; f < features; ++f) {
    const int64_t feature = blockIdx.x % groups * features + f;
    const float factor = scale * weight[feature], offset = bias[feature];
#pragma unroll 4
    for (int64_t i = f * n + threadIdx.x; i < (f + 1) * n; i += 1024) {
      y[i] = (x[i] - m.mean) * factor + offset;
    }
  }
}

void task::launch(const Sizes& s, const float* x, const float* weight, const float* bias, float* y,
                  cudaStream_t stream) {
  group_norm<<<s.batch_size * s.num_groups, 1024, 0, stream>>>(
      x, weight, bias, y, s.num_groups, s.features / s.num_groups, s.dim1 * s.dim2);
}
