// Log-softmax with maximum and sum in one pass (online), one warp per row.
// Task: level1/024_log_softmax
// Expected: pass
#include "task.h"

__global__ void log_softmax(const float* x, float* y, int64_t rows, int64_t columns) {
  const int64_t row = (int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  const float* in = x + row * columns;
  float* out = y + row * columns;
  float m = -INFINITY, d = 0;
  for (int64_t j = lane; j < columns; j += 32) {
    const float v = in[j];
    if (v > m) {
      d = d * __expf(m - v) + 1;
      m = v;
    } else {
      d += __expf(v - m);
    }
  }
  float top = m;
  for (int offset = 16; offset > 0; offset /= 2) {
    top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, offset));
  }
  d = m == -INFINITY ? 0 : d * __expf(m - top);
  for (int offset = 16; offset > 0; offset /= 2) d += __shfl_xor_sync(0xffffffff, d, offset);
  const float log_sum = logf(d);
  for (int64_t j = lane; j < columns; j += 32) out[j] = in[j] - top - log_sum;
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  log_softmax<<<(s.batch_size + 3) / 4, 128, 0, stream>>>(x, y, s.batch_size, s.dim);
}
