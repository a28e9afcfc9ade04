// A direct convolution, then batch norm and factor folded into one multiplication and one addition.
// Task: level2/073_conv2d_batch_norm_scaling
// Expected: pass
#include "task.h"

constexpr int threads = 256;

__global__ void conv(const float* x, const float* weight, const float* bias, float* y,
                     task::Sizes s) {
  const int64_t k = s.kernel_size, out_height = s.height - k + 1, out_width = s.width - k + 1;
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= s.batch_size * s.out_channels * out_height * out_width) return;
  const int64_t w = i % out_width, h = i / out_width % out_height;
  const int64_t o = i / out_width / out_height % s.out_channels;
  const int64_t n = i / out_width / out_height / s.out_channels;
  float sum = bias[o];
  for (int64_t c = 0; c < s.in_channels; ++c) {
    for (int64_t p = 0; p < k; ++p) {
      for (int64_t q = 0; q < k; ++q) {
        sum += x[((n * s.in_channels + c) * s.height + h + p) * s.width + w + q] *
               weight[((o * s.in_channels + c) * k + p) * k + q];
      }
    }
  }
  y[i] = sum;
}

__device__ float sum_of_block(float v) {
  __shared__ float parts[threads];
  __syncthreads();
  parts[threadIdx.x] = v;
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
    __syncthreads();
  }
  return parts[0];
}

__global__ void normalise(float* y, const float* weight, const float* bias, float factor,
                          int64_t batch, int64_t channels, int64_t pixels) {
  const int64_t channel = blockIdx.x, n = batch * pixels;
  const auto place = [&](int64_t i) {
    return (i / pixels * channels + channel) * pixels + i % pixels;
  };
  float sum = 0, squares = 0;
  for (int64_t i = threadIdx.x; i < n; i += threads) sum += y[place(i)];
  const float mean = sum_of_block(sum) / n;
  for (int64_t i = threadIdx.x; i < n; i += threads) {
    const float d = y[place(i)] - mean;
    squares += d * d;
  }
  const float inverse = rsqrtf(sum_of_block(squares) / n + 1e-5f);
  const float scale = weight[channel] * inverse * factor;
  const float shift = bias[channel] * factor - mean * scale;
  for (int64_t i = threadIdx.x; i < n; i += threads) y[place(i)] = y[place(i)] * scale + shift;
}

void task::launch(const Sizes& s, const float* x, const float* conv_weight, const float* conv_bias,
                  const float* bn_weight, const float* bn_bias, float* y, cudaStream_t stream) {
  const int64_t pixels = (s.height - s.kernel_size + 1) * (s.width - s.kernel_size + 1);
  const int64_t outputs = s.batch_size * s.out_channels * pixels;
  conv<<<(outputs + 255) / 256, 256, 0, stream>>>(x, conv_weight, conv_bias, y, s);
  normalise<<<s.out_channels, threads, 0, stream>>>(y, bn_weight, bn_bias,
                                                    static_cast<float>(s.scaling_factor),
                                                    s.batch_size, s.out_channels, pixels);
}
