#include "task.h"

#include <kb/types.cuh>

#include <cmath>

__host__ __device__ int64_t output_length(const task::Sizes& s) {
  return (s.sequence_length + 2 * s.padding - s.dilation * (s.kernel_size - 1) - 1) / s.stride + 1;
}

// One thread per element of y; a block has 256 neighbours of a row.
__global__ void max_pool(task::Sizes s, const kb::real* x, kb::real* y) {
  const int64_t length = output_length(s), tiles = (length + 255) / 256;
  const int64_t row = blockIdx.x / tiles, to = blockIdx.x % tiles * 256 + threadIdx.x;
  if (to >= length) return;
  x += row * s.sequence_length;
  float max = -INFINITY;
  for (int k = 0; k < s.kernel_size; ++k) {
    const int64_t from = to * s.stride - s.padding + k * s.dilation;
    if (0 <= from && from < s.sequence_length) max = fmaxf(max, kb::element(x, from));
  }
  y[row * length + to] = static_cast<kb::real>(max);
}

void task::launch(const Sizes& s, const real* x, real* y, cudaStream_t stream) {
  const int64_t rows = s.batch_size * s.features, tiles = (output_length(s) + 255) / 256;
  max_pool<<<rows * tiles, 256, 0, stream>>>(s, x, y);
}
