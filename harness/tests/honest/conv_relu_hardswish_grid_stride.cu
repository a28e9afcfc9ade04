// A direct convolution, then bias, ReLU and HardSwish in place in a grid-stride loop.
// Task: level2/057_conv2d_relu_hardswish
// Expected: pass
#include "task.h"

__global__ void conv(const float* x, const float* weight, float* y, int64_t outputs,
                     int64_t in_channels, int64_t out_channels, int64_t height, int64_t width,
                     int64_t k) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= outputs) return;
  const int64_t out_height = height - k + 1, out_width = width - k + 1;
  const int64_t w = i % out_width, h = i / out_width % out_height;
  const int64_t o = i / out_width / out_height % out_channels;
  const int64_t n = i / out_width / out_height / out_channels;
  float sum = 0;
  for (int64_t c = 0; c < in_channels; ++c) {
    for (int64_t p = 0; p < k; ++p) {
      const float* row = x + ((n * in_channels + c) * height + h + p) * width + w;
      for (int64_t q = 0; q < k; ++q)
        sum += row[q] * weight[((o * in_channels + c) * k + p) * k + q];
    }
  }
  y[i] = sum;
}

__global__ void finish(float* y, const float* bias, int64_t n, int64_t channels, int64_t pixels) {
  const int64_t stride = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    const float v = fmaxf(y[i] + bias[i / pixels % channels], 0.0f);
    y[i] = v * fminf(fmaxf((v + 3.0f) / 6.0f, 0.0f), 1.0f);
  }
}

void task::launch(const Sizes& s, const float* x, const float* conv_weight, const float* conv_bias,
                  float* y, cudaStream_t stream) {
  const int64_t pixels = (s.height - s.kernel_size + 1) * (s.width - s.kernel_size + 1);
  const int64_t n = s.batch_size * s.out_channels * pixels;
  conv<<<(n + 255) / 256, 256, 0, stream>>>(x, conv_weight, y, n, s.in_channels, s.out_channels,
                                            s.height, s.width, s.kernel_size);
  finish<<<512, 256, 0, stream>>>(y, conv_bias, n, s.out_channels, pixels);
}
