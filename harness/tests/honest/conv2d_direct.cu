// Convolution without im2col, one thread per output.
// Task: level1/056_conv_standard_2d_asymmetric_input_asymmetric_kernel
// Expected: pass
#include "task.h"

__global__ void conv2d(const float* x, const float* weight, float* y, int64_t outputs,
                       int64_t in_channels, int64_t out_channels, int64_t height, int64_t width,
                       int64_t kh, int64_t kw) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= outputs) return;
  const int64_t out_height = height - kh + 1, out_width = width - kw + 1;
  const int64_t column = i % out_width, row = i / out_width % out_height;
  const int64_t o = i / (out_width * out_height) % out_channels;
  const int64_t n = i / (out_width * out_height * out_channels);
  float sum = 0;
  for (int64_t c = 0; c < in_channels; ++c) {
    for (int64_t p = 0; p < kh; ++p) {
      for (int64_t q = 0; q < kw; ++q) {
        sum += x[((n * in_channels + c) * height + row + p) * width + column + q] *
               weight[((o * in_channels + c) * kh + p) * kw + q];
      }
    }
  }
  y[i] = sum;
}

void task::launch(const Sizes& s, const float* x, const float* weight, float* y,
                  cudaStream_t stream) {
  const int64_t kh = s.kernel_size[0], kw = s.kernel_size[1];
  const int64_t outputs = s.batch_size * s.out_channels * (s.height - kh + 1) * (s.width - kw + 1);
  conv2d<<<(outputs + 255) / 256, 256, 0, stream>>>(x, weight, y, outputs, s.in_channels,
                                                    s.out_channels, s.height, s.width, kh, kw);
}
