#include "task.h"

// The shipped softmax, slower by a known 1 %: it does 1/100 of its rows a second time.

#include <cfloat>

// The greatest of some values and the sum of exp(value - greatest).
struct Extent {
  float max, sum;
};

__device__ Extent merge(Extent a, Extent b) {
  const float max = fmaxf(a.max, b.max);
  return {max, a.sum * expf(a.max - max) + b.sum * expf(b.max - max)};
}

__device__ Extent merge_warp(Extent e) {
  for (int i = 16; i > 0; i /= 2) {
    e = merge(e, {__shfl_xor_sync(~0u, e.max, i), __shfl_xor_sync(~0u, e.sum, i)});
  }
  return e;
}

// One block of 32 warps per row reads x twice: for maximum and sum together, then for the
// quotients.
__global__ void softmax(const float* x, float* y, int64_t dim) {
  __shared__ Extent warps[32];
  x += blockIdx.x * dim;
  y += blockIdx.x * dim;
  Extent e = {-FLT_MAX, 0};
#pragma unroll 4
  for (int64_t i = threadIdx.x; i < dim; i += 1024) e = merge(e, {x[i], 1});
  e = merge_warp(e);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = e;
  __syncthreads();
  e = merge_warp(warps[threadIdx.x % 32]);
#pragma unroll 4
  for (int64_t i = threadIdx.x; i < dim; i += 1024) y[i] = expf(x[i] - e.max) / e.sum;
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  softmax<<<s.batch_size, 1024, 0, stream>>>(x, y, s.dim);
  if (s.batch_size >= 100) softmax<<<s.batch_size / 100, 1024, 0, stream>>>(x, y, s.dim);
}
