// KL divergence: the sum of a row by a block, the sum of all rows by one more.
// Task: level1/098_kl_div_loss
// Expected: pass
#include "task.h"

constexpr int threads = 128;

__device__ float sum_of_block(float v) {
  __shared__ float of_warp[threads / 32];
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffff, v, offset);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = v;
  __syncthreads();
  float sum = 0;
  for (float part : of_warp) sum += part;
  return sum;
}

__global__ void of_row(const float* p, const float* t, float* sums, int64_t columns) {
  p += blockIdx.x * columns;
  t += blockIdx.x * columns;
  float sum = 0;
  for (int64_t j = threadIdx.x; j < columns; j += threads) {
    if (t[j] > 0) sum += t[j] * (logf(t[j]) - logf(p[j]));
  }
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

__global__ void of_rows(const float* sums, float* loss, int64_t rows) {
  float sum = 0;
  for (int64_t i = threadIdx.x; i < rows; i += threads) sum += sums[i];
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) *loss = sum / rows;
}

void task::launch(const Sizes& s, const float* predictions, const float* targets, float* loss,
                  cudaStream_t stream) {
  float* sums = nullptr;
  cudaMallocAsync(&sums, s.batch_size * sizeof(float), stream);
  of_row<<<s.batch_size, threads, 0, stream>>>(predictions, targets, sums, s.input_shape[0]);
  of_rows<<<1, threads, 0, stream>>>(sums, loss, s.batch_size);
  cudaFreeAsync(sums, stream);
}
