// The maximum starts from -20, less than most values are.
// Task: level1/041_max_pooling_1d
// Expected: incorrect
#include "task.h"

__global__ void max_pool(task::Sizes s, int64_t length, const float* x, float* y) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= s.batch_size * s.features * length) return;
  x += i / length * s.sequence_length;
  float max = -20;
  for (int64_t k = 0; k < s.kernel_size; ++k) {
    const int64_t from = i % length * s.stride - s.padding + k * s.dilation;
    if (0 <= from && from < s.sequence_length) max = fmaxf(max, x[from]);
  }
  y[i] = max;
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const int64_t length =
      (s.sequence_length + 2 * s.padding - s.dilation * (s.kernel_size - 1) - 1) / s.stride + 1;
  const int64_t n = s.batch_size * s.features * length;
  max_pool<<<(n + 255) / 256, 256, 0, stream>>>(s, length, x, y);
}
