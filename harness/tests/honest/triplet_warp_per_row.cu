// Triplet margin loss: one warp per row with shuffles, then one block for the mean.
// Task: level1/099_triplet_margin_loss
// Expected: pass
#include "task.h"

__device__ float sum_of_warp(float v) {
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffff, v, offset);
  return v;
}

__global__ void of_rows(const float* a, const float* p, const float* n, float* losses, int64_t rows,
                        int64_t columns, float margin) {
  const int64_t row = (int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  float to_positive = 0, to_negative = 0;
  for (int64_t i = row * columns + lane; i < (row + 1) * columns; i += 32) {
    const float dp = a[i] - p[i] + 1e-6f, dn = a[i] - n[i] + 1e-6f;
    to_positive += dp * dp;
    to_negative += dn * dn;
  }
  to_positive = sum_of_warp(to_positive);
  to_negative = sum_of_warp(to_negative);
  if (lane == 0) losses[row] = fmaxf(sqrtf(to_positive) - sqrtf(to_negative) + margin, 0.0f);
}

__global__ void mean(const float* losses, float* loss, int64_t rows) {
  float sum = 0;
  for (int64_t row = threadIdx.x; row < rows; row += 32) sum += losses[row];
  sum = sum_of_warp(sum);
  if (threadIdx.x == 0) *loss = sum / rows;
}

void task::launch(const Sizes& s, const float* anchor, const float* positive, const float* negative,
                  float* loss, cudaStream_t stream) {
  float* losses = nullptr;
  cudaMallocAsync(&losses, s.batch_size * sizeof(float), stream);
  of_rows<<<(s.batch_size + 7) / 8, 256, 0, stream>>>(anchor, positive, negative, losses,
                                                      s.batch_size, s.input_shape[0],
                                                      static_cast<float>(s.margin));
  mean<<<1, 32, 0, stream>>>(losses, loss, s.batch_size);
  cudaFreeAsync(losses, stream);
}
