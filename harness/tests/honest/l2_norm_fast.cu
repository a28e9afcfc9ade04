// Divides each row by its length: a tree of shuffles, then rsqrtf.
// Task: level1/039_l2_norm
// Expected: pass
#include "task.h"

__global__ void normalise(const float* x, float* y, int64_t columns) {
  __shared__ float of_warp[8];
  x += blockIdx.x * columns;
  y += blockIdx.x * columns;
  float squares = 0;
  for (int64_t j = threadIdx.x; j < columns; j += blockDim.x) squares = fmaf(x[j], x[j], squares);
  for (int offset = 16; offset > 0; offset /= 2) {
    squares += __shfl_down_sync(0xffffffff, squares, offset);
  }
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = squares;
  __syncthreads();
  float sum = 0;
  for (float part : of_warp) sum += part;
  const float factor = rsqrtf(sum);
  for (int64_t j = threadIdx.x; j < columns; j += blockDim.x) y[j] = x[j] * factor;
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  normalise<<<s.batch_size, 256, 0, stream>>>(x, y, s.dim);
}
