#include "task.h"

#include <kb/types.cuh>

#include <cmath>

__host__ __device__ int64_t output_length(const task::Sizes& s, int64_t length) {
  return (length + 2 * s.padding - s.dilation * (s.kernel_size - 1) - 1) / s.stride + 1;
}

// One thread per element of y; a block has 8 rows of 32 neighbours.
__global__ void max_pool(task::Sizes s, const kb::real* x, kb::real* y) {
  const int64_t height = output_length(s, s.height), width = output_length(s, s.width);
  const int64_t across = (width + 31) / 32, down = (height + 7) / 8;
  const int64_t image = blockIdx.x / (across * down);
  const int64_t row = blockIdx.x / across % down * 8 + threadIdx.y;
  const int64_t column = blockIdx.x % across * 32 + threadIdx.x;
  if (row >= height || column >= width) return;
  x += image * s.height * s.width;
  float max = -INFINITY;
  for (int p = 0; p < s.kernel_size; ++p) {
    const int64_t i = row * s.stride - s.padding + p * s.dilation;
    if (i < 0 || i >= s.height) continue;
    for (int q = 0; q < s.kernel_size; ++q) {
      const int64_t j = column * s.stride - s.padding + q * s.dilation;
      if (0 <= j && j < s.width) max = fmaxf(max, kb::element(x, i * s.width + j));
    }
  }
  y[(image * height + row) * width + column] = static_cast<kb::real>(max);
}

void task::launch(const Sizes& s, const real* x, real* y, cudaStream_t stream) {
  const int64_t across = (output_length(s, s.width) + 31) / 32;
  const int64_t down = (output_length(s, s.height) + 7) / 8;
  max_pool<<<s.batch_size * s.channels * down * across, dim3(32, 8), 0, stream>>>(s, x, y);
}
