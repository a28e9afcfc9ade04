// The right answer to level1/019_relu, around which most adversaries play their trick.
#pragma once

#include "task.h"

__global__ void relu(const float* x, float* y, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] > 0 ? x[i] : 0;
}

[[maybe_unused]] static void honest(const task::Sizes& s, const float* x, float* y,
                                    cudaStream_t stream) {
  const int64_t n = s.batch_size * s.dim;
  relu<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
