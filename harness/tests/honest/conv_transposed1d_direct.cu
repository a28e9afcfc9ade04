// Transposed convolution as a sum over what reaches an output, one thread per output.
// Task: level1/064_conv_transposed_1d
// Expected: pass
#include "task.h"

__global__ void conv(const float* x, const float* weight, float* y, int64_t outputs,
                     int64_t in_channels, int64_t out_channels, int64_t k, int64_t length) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= outputs) return;
  const int64_t out_length = length + k - 1;
  const int64_t at = i % out_length, o = i / out_length % out_channels;
  const float* sample = x + i / out_length / out_channels * in_channels * length;
  float sum = 0;
  for (int64_t c = 0; c < in_channels; ++c) {
    for (int64_t p = 0; p < k; ++p) {
      const int64_t from = at - p;
      if (from < 0 || from >= length) continue;
      sum += sample[c * length + from] * weight[(c * out_channels + o) * k + p];
    }
  }
  y[i] = sum;
}

void task::launch(const Sizes& s, const float* x, const float* weight, float* y,
                  cudaStream_t stream) {
  const int64_t outputs = s.batch_size * s.out_channels * (s.length + s.kernel_size - 1);
  conv<<<(outputs + 255) / 256, 256, 0, stream>>>(x, weight, y, outputs, s.in_channels,
                                                  s.out_channels, s.kernel_size, s.length);
}
