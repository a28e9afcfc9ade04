#include "task.h"

#include <kb/types.cuh>

#include <cmath>

__host__ __device__ int64_t output_length(const task::Sizes& s, int64_t length) {
  return (length + 2 * s.padding - s.dilation * (s.kernel_size - 1) - 1) / s.stride + 1;
}

// One thread per element of y; a block has 8 rows of 32 neighbours.
__global__ void max_pool(task::Sizes s, const kb::real* x, kb::real* y) {
  const int64_t depth = output_length(s, s.dim1), height = output_length(s, s.dim2);
  const int64_t width = output_length(s, s.dim3);
  const int64_t across = (width + 31) / 32, down = (height + 7) / 8;
  const int64_t slice = blockIdx.x / (across * down);  // of all volumes of y
  const int64_t row = blockIdx.x / across % down * 8 + threadIdx.y;
  const int64_t column = blockIdx.x % across * 32 + threadIdx.x;
  if (row >= height || column >= width) return;
  x += slice / depth * s.dim1 * s.dim2 * s.dim3;
  float max = -INFINITY;
  for (int o = 0; o < s.kernel_size; ++o) {
    const int64_t h = slice % depth * s.stride - s.padding + o * s.dilation;
    if (h < 0 || h >= s.dim1) continue;
    for (int p = 0; p < s.kernel_size; ++p) {
      const int64_t i = row * s.stride - s.padding + p * s.dilation;
      if (i < 0 || i >= s.dim2) continue;
      for (int q = 0; q < s.kernel_size; ++q) {
        const int64_t j = column * s.stride - s.padding + q * s.dilation;
        if (0 <= j && j < s.dim3) max = fmaxf(max, kb::element(x, (h * s.dim2 + i) * s.dim3 + j));
      }
    }
  }
  y[(slice * height + row) * width + column] = static_cast<kb::real>(max);
}

void task::launch(const Sizes& s, const real* x, real* y, cudaStream_t stream) {
  const int64_t across = (output_length(s, s.dim3) + 31) / 32;
  const int64_t down = (output_length(s, s.dim2) + 7) / 8;
  const int64_t slices = s.batch_size * s.channels * output_length(s, s.dim1);
  max_pool<<<slices * down * across, dim3(32, 8), 0, stream>>>(s, x, y);
}
