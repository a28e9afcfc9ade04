#include "task.h"

#include <kb/axis.cuh>

// One warp per row, 8 rows per block.
__global__ void row_losses(const kb::real* anchor, const kb::real* positive,
                           const kb::real* negative, float* losses, int64_t rows, int64_t n,
                           float margin) {
  const int64_t row = int64_t{blockIdx.x} * 8 + threadIdx.y;
  if (row >= rows) return;
  float near = 0, far = 0;
#pragma unroll 4
  for (int64_t i = row * n + threadIdx.x; i < (row + 1) * n; i += 32) {
    const float a = kb::element(anchor, i);
    const float p = a - kb::element(positive, i) + 1e-6f, q = a - kb::element(negative, i) + 1e-6f;
    near = fmaf(p, p, near);
    far = fmaf(q, q, far);
  }
  near = sqrtf(kb::combine(kb::Warp{}, near, kb::Sum{}));
  far = sqrtf(kb::combine(kb::Warp{}, far, kb::Sum{}));
  const float loss = near - far + margin;
  if (threadIdx.x == 0) losses[row] = loss < 0 ? 0 : loss;
}

void task::launch(const Sizes& s, const real* anchor, const real* positive, const real* negative,
                  real* loss, cudaStream_t stream) {
  const int64_t rows = s.batch_size;
  void* memory;
  cudaMallocAsync(&memory, rows * sizeof(float), stream);
  const auto losses = static_cast<float*>(memory);
  row_losses<<<(rows + 7) / 8, dim3(32, 8), 0, stream>>>(
      anchor, positive, negative, losses, rows, s.input_shape[0], static_cast<float>(s.margin));
  kb::launch_sum(stream, rows, kb::Same{}, rows, loss, losses);
  cudaFreeAsync(memory, stream);
}
