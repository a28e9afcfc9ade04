// Right, and faster than PyTorch: masks and scans in one kernel, where eager PyTorch runs two.
// Expected: pass
#include "task.h"

constexpr int threads = 512;

// One block per row scans 512 elements at a time: within each warp, then over the warps' totals.
__global__ void masked_cumsum(const float* x, const bool* mask, float* y, int64_t n) {
  __shared__ float totals[2][threads / 32];  // two sets, so that one barrier per round suffices
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  x += blockIdx.x * n;
  mask += blockIdx.x * n;
  y += blockIdx.x * n;
  float earlier = 0;
  for (int64_t start = 0, set = 0; start < n; start += threads, set ^= 1) {
    const int64_t i = start + threadIdx.x;
    float scan = i < n ? x[i] * mask[i] : 0;
    for (int step = 1; step < 32; step *= 2) {
      const float lower = __shfl_up_sync(~0u, scan, step);
      if (lane >= step) scan += lower;
    }
    if (lane == 31) totals[set][warp] = scan;
    __syncthreads();
    float total = lane < threads / 32 ? totals[set][lane] : 0;
    for (int step = 1; step < 32; step *= 2) {
      const float lower = __shfl_up_sync(~0u, total, step);
      if (lane >= step) total += lower;
    }
    const float before = __shfl_sync(~0u, total, warp == 0 ? 0 : warp - 1);
    if (i < n) y[i] = earlier + ((warp == 0 ? 0 : before) + scan);
    earlier += __shfl_sync(~0u, total, 31);
  }
}

void task::launch(const Sizes& s, const float* x, const bool* mask, float* y, cudaStream_t stream) {
  masked_cumsum<<<s.batch_size, threads, 0, stream>>>(x, mask, y, s.input_shape[0]);
}
