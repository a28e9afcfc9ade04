#include "task.h"

#include <kb/types.cuh>

__host__ __device__ int64_t output_length(const task::Sizes& s) {
  return (s.input_length + 2 * s.padding - s.kernel_size) / s.stride + 1;
}

// One thread per element of y; a block has 256 neighbours of a row.
__global__ void avg_pool(task::Sizes s, const kb::real* x, kb::real* y) {
  const int64_t length = output_length(s), tiles = (length + 255) / 256;
  const int64_t row = blockIdx.x / tiles, to = blockIdx.x % tiles * 256 + threadIdx.x;
  if (to >= length) return;
  x += row * s.input_length;
  float sum = 0;
  for (int k = 0; k < s.kernel_size; ++k) {
    const int64_t from = to * s.stride - s.padding + k;
    if (0 <= from && from < s.input_length) sum += kb::element(x, from);
  }
  y[row * length + to] = static_cast<kb::real>(sum / s.kernel_size);
}

void task::launch(const Sizes& s, const real* x, real* y, cudaStream_t stream) {
  const int64_t rows = s.batch_size * s.in_channels, tiles = (output_length(s) + 255) / 256;
  avg_pool<<<rows * tiles, 256, 0, stream>>>(s, x, y);
}
