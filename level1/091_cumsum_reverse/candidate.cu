#include "task.h"

constexpr int parts = 8;

// One warp per row, 8 rows per block; i counts from the row's end. A round scans `parts` groups of
// 32 neighbouring elements, all at once, and puts them on top of the earlier rounds' sum.
__global__ void cumsum_reverse(const float* x, float* y, int64_t rows, int64_t n) {
  const int64_t row = int64_t{blockIdx.x} * 8 + threadIdx.y;
  const int lane = threadIdx.x;
  if (row >= rows) return;
  x += row * n;
  y += row * n;
  float earlier = 0;
  for (int64_t start = 0; start < n; start += 32 * parts) {
    float scan[parts], sum = 0;
    for (int j = 0; j < parts; ++j) {
      const int64_t i = start + 32 * j + lane;
      scan[j] = i < n ? x[n - 1 - i] : 0;
    }
    for (int step = 1; step < 32; step *= 2) {
      for (int j = 0; j < parts; ++j) {
        const float lower = __shfl_up_sync(~0u, scan[j], step);
        if (lane >= step) scan[j] += lower;
      }
    }
    for (int j = 0; j < parts; ++j) {
      const int64_t i = start + 32 * j + lane;
      if (i < n) y[n - 1 - i] = earlier + (sum + scan[j]);
      sum += __shfl_sync(~0u, scan[j], 31);
    }
    earlier += sum;
  }
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  cumsum_reverse<<<(s.batch_size + 7) / 8, dim3(32, 8), 0, stream>>>(x, y, s.batch_size,
                                                                     s.input_shape[0]);
}
