#include "task.h"

#include <kb/types.cuh>

// One thread per position; its features lie n elements apart. It reads them twice: for the mean
// square, then for the quotients.
__global__ void rms_norm(const kb::real* x, kb::real* y, int64_t features, int64_t n, float eps) {
  const int64_t tiles = (n + 255) / 256, position = blockIdx.x % tiles * 256 + threadIdx.x;
  if (position >= n) return;
  const int64_t first = blockIdx.x / tiles * features * n + position;
  float squares = 0;
#pragma unroll 8
  for (int64_t f = 0; f < features; ++f) {
    const float v = kb::element(x, first + f * n);
    squares = fmaf(v, v, squares);
  }
  const float scale = 1 / sqrtf(squares / features + eps);
#pragma unroll 8
  for (int64_t f = 0; f < features; ++f) {
    const int64_t i = first + f * n;
    y[i] = static_cast<kb::real>(kb::element(x, i) * scale);
  }
}

void task::launch(const Sizes& s, const real* x, real* y, cudaStream_t stream) {
  const int64_t n = s.dim1 * s.dim2, blocks = s.batch_size * ((n + 255) / 256);
  rms_norm<<<blocks, 256, 0, stream>>>(x, y, s.features, n, static_cast<float>(s.eps));
}
