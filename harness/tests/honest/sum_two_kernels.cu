// The sum of a column in two kernels: parts of it by some threads, the sum of these by one.
// Task: level1/047_sum_reduction_over_a_dimension
// Expected: pass
#include "task.h"

constexpr int64_t parts = 16;

__global__ void add_part(const float* x, float* sums, int64_t rows, int64_t columns) {
  const int64_t column = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  const int64_t sample = blockIdx.z, part = blockIdx.y;
  float sum = 0;
  for (int64_t row = part; row < rows; row += parts) {
    sum += x[(sample * rows + row) * columns + column];
  }
  sums[(sample * parts + part) * columns + column] = sum;
}

__global__ void add_parts(const float* sums, float* y, int64_t columns) {
  const int64_t column = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  float sum = 0;
  for (int64_t part = 0; part < parts; ++part) {
    sum += sums[(blockIdx.y * parts + part) * columns + column];
  }
  y[blockIdx.y * columns + column] = sum;
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  float* sums = nullptr;
  cudaMallocAsync(&sums, s.batch_size * parts * s.dim2 * sizeof(float), stream);
  const unsigned blocks = (s.dim2 + 255) / 256, samples = s.batch_size;
  add_part<<<dim3(blocks, parts, samples), 256, 0, stream>>>(x, sums, s.dim1, s.dim2);
  add_parts<<<dim3(blocks, samples), 256, 0, stream>>>(sums, y, s.dim2);
  cudaFreeAsync(sums, stream);
}
