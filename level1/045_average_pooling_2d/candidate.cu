#include "task.h"

#include <kb/types.cuh>

constexpr int chunk = 1024, threads = 256;

// A block has `windows` neighbouring elements of a row of y. It adds up each of their columns in x,
// so that neighbouring threads read neighbouring addresses, and then the columns of each window.
// There are at most chunk columns, unless it is one window that has more.
__global__ void __launch_bounds__(threads, 8)
    avg_pool(task::Sizes s, const kb::real* x, kb::real* y, int windows) {
  __shared__ float sums[chunk];
  // Places within a plane in 32 bits: divisions of 64 would take a block longer than its sums.
  const int k = s.kernel_size, in_width = s.width, width = in_width / k;
  const unsigned height = static_cast<unsigned>(s.height) / k;
  const unsigned tiles = (width + windows - 1) / windows, row = blockIdx.x / tiles;
  const int first = blockIdx.x % tiles * windows, to = first + threadIdx.x;
  const int columns = (first + windows < width ? windows : width - first) * k;
  x += (row / height * s.height + row % height * k) * s.width + first * k;
  float sum = 0;
  for (int begin = 0; begin < columns; begin += chunk) {
    const int end = begin + chunk < columns ? begin + chunk : columns;
    // A thread's columns go down together, to have as many loads under way.
    float column[chunk / threads] = {};
#pragma unroll 2
    for (int p = 0; p < k; ++p) {
      const kb::real* const from = x + int64_t{p} * in_width + begin + threadIdx.x;
#pragma unroll
      for (int c = 0; c < chunk / threads; ++c) {
        if (begin + threadIdx.x + c * threads < end) column[c] += kb::element(from, c * threads);
      }
    }
#pragma unroll
    for (int c = 0; c < chunk / threads; ++c) sums[threadIdx.x + c * threads] = column[c];
    __syncthreads();
    const int mine = threadIdx.x * k;
    for (int i = begin > mine ? begin : mine; i < end && i < mine + k; ++i) {
      sum += sums[i - begin];
    }
    __syncthreads();
  }
  if (threadIdx.x < windows && to < width)
    y[int64_t{row} * width + to] = static_cast<kb::real>(sum / (static_cast<float>(k) * k));
}

void task::launch(const Sizes& s, const real* x, real* y, cudaStream_t stream) {
  const int64_t k = s.kernel_size, rows = s.batch_size * s.channels * (s.height / k);
  const int64_t windows = k > chunk ? 1 : chunk / k < threads ? chunk / k : threads;
  const int64_t tiles = (s.width / k + windows - 1) / windows;
  avg_pool<<<rows * tiles, threads, 0, stream>>>(s, x, y, static_cast<int>(windows));
}
