// Loads the next tile while other threads of the block still multiply with the last one.
// Task: level1/001_square_matrix_multiplication
// Expected: incorrect
// Backends: cpu
#include "task.h"

constexpr int side = 16;

__global__ void multiply(const float* a, const float* b, float* c, int64_t n) {
  __shared__ float left[side][side], right[side][side];
  const int64_t row = blockIdx.y * side + threadIdx.y, column = blockIdx.x * side + threadIdx.x;
  float sum = 0;
  for (int64_t k = 0; k < n; k += side) {
    const int64_t i = k + threadIdx.x, j = k + threadIdx.y;
    left[threadIdx.y][threadIdx.x] = row < n && i < n ? a[row * n + i] : 0;
    right[threadIdx.y][threadIdx.x] = j < n && column < n ? b[j * n + column] : 0;
    __syncthreads();
    for (int t = 0; t < side; ++t) sum += left[threadIdx.y][t] * right[t][threadIdx.x];
  }
  if (row < n && column < n) c[row * n + column] = sum;
}

void task::launch(const Sizes& s, const float* a, const float* b, float* c, cudaStream_t stream) {
  const unsigned blocks = static_cast<unsigned>((s.N + side - 1) / side);
  multiply<<<dim3(blocks, blocks), dim3(side, side), 0, stream>>>(a, b, c, s.N);
}
