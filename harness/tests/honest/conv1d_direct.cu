// Convolution along a row without im2col; a block's piece of a channel lies in shared memory.
// Task: level1/067_conv_standard_1d
// Expected: pass
#include "task.h"

constexpr int threads = 128;

__global__ void conv1d(const float* x, const float* weight, float* y, int64_t in_channels,
                       int64_t out_channels, int64_t length, int64_t k) {
  extern __shared__ float piece[];  // threads + k - 1
  const int64_t out_length = length - k + 1, first = int64_t{blockIdx.x} * threads;
  const int64_t o = blockIdx.y, n = blockIdx.z;
  float sum = 0;
  for (int64_t c = 0; c < in_channels; ++c) {
    const float* row = x + (n * in_channels + c) * length;
    for (int64_t i = threadIdx.x; i < threads + k - 1; i += threads) {
      piece[i] = first + i < length ? row[first + i] : 0;
    }
    __syncthreads();
    for (int64_t p = 0; p < k; ++p) {
      sum = fmaf(weight[(o * in_channels + c) * k + p], piece[threadIdx.x + p], sum);
    }
    __syncthreads();
  }
  const int64_t i = first + threadIdx.x;
  if (i < out_length) y[(n * out_channels + o) * out_length + i] = sum;
}

void task::launch(const Sizes& s, const float* x, const float* weight, float* y,
                  cudaStream_t stream) {
  const int64_t out_length = s.length - s.kernel_size + 1;
  const dim3 blocks((out_length + threads - 1) / threads, s.out_channels, s.batch_size);
  conv1d<<<blocks, threads, (threads + s.kernel_size - 1) * sizeof(float), stream>>>(
      x, weight, y, s.in_channels, s.out_channels, s.length, s.kernel_size);
}
