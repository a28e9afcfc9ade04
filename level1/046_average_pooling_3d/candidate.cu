#include "task.h"

#include <kb/types.cuh>

__host__ __device__ int64_t output_length(const task::Sizes& s, int64_t length) {
  return (length + 2 * s.padding - s.kernel_size) / s.stride + 1;
}

// One thread per element of y; a block has 8 rows of 32 neighbours.
__global__ void avg_pool(task::Sizes s, const kb::real* x, kb::real* y) {
  const int64_t depth = output_length(s, s.depth), height = output_length(s, s.height);
  const int64_t width = output_length(s, s.width);
  const int64_t across = (width + 31) / 32, down = (height + 7) / 8;
  const int64_t slice = blockIdx.x / (across * down);  // of all volumes of y
  const int64_t row = blockIdx.x / across % down * 8 + threadIdx.y;
  const int64_t column = blockIdx.x % across * 32 + threadIdx.x;
  if (row >= height || column >= width) return;
  x += slice / depth * s.depth * s.height * s.width;
  float sum = 0;
  for (int o = 0; o < s.kernel_size; ++o) {
    const int64_t h = slice % depth * s.stride - s.padding + o;
    if (h < 0 || h >= s.depth) continue;
    for (int p = 0; p < s.kernel_size; ++p) {
      const int64_t i = row * s.stride - s.padding + p;
      if (i < 0 || i >= s.height) continue;
      for (int q = 0; q < s.kernel_size; ++q) {
        const int64_t j = column * s.stride - s.padding + q;
        if (0 <= j && j < s.width) sum += kb::element(x, (h * s.height + i) * s.width + j);
      }
    }
  }
  y[(slice * height + row) * width + column] =
      static_cast<kb::real>(sum / (s.kernel_size * s.kernel_size * s.kernel_size));
}

void task::launch(const Sizes& s, const real* x, real* y, cudaStream_t stream) {
  const int64_t across = (output_length(s, s.width) + 31) / 32;
  const int64_t down = (output_length(s, s.height) + 7) / 8;
  const int64_t slices = s.batch_size * s.channels * output_length(s, s.depth);
  avg_pool<<<slices * down * across, dim3(32, 8), 0, stream>>>(s, x, y);
}
