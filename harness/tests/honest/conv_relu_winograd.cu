// Winograd's F(2 x 2, 3 x 3) with both biases and ReLU in its last step.
// Task: level2/001_conv2d_relu_bias_add
// Expected: pass
#include "task.h"

// Filters of another size than 3 x 3.
__global__ void direct(const float* x, const float* weight, const float* conv_bias,
                       const float* bias, float* y, int64_t outputs, int64_t in_channels,
                       int64_t out_channels, int64_t height, int64_t width, int64_t k) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= outputs) return;
  const int64_t out_height = height - k + 1, out_width = width - k + 1;
  const int64_t column = i % out_width, row = i / out_width % out_height;
  const int64_t o = i / out_width / out_height % out_channels;
  const float* image = x + i / out_width / out_height / out_channels * in_channels * height * width;
  float sum = 0;
  for (int64_t c = 0; c < in_channels; ++c) {
    for (int64_t p = 0; p < k; ++p) {
      for (int64_t q = 0; q < k; ++q) {
        sum += weight[((o * in_channels + c) * k + p) * k + q] *
               image[(c * height + row + p) * width + column + q];
      }
    }
  }
  y[i] = fmaxf(sum + conv_bias[o], 0) + bias[o];
}

// (1, 0, 0), (1, 1, 1) / 2, (1, -1, 1) / 2 and (0, 0, 1) times three values.
__device__ void transform_filter(const float* g, int stride, float* out) {
  const float a = g[0], b = g[stride], c = g[2 * stride];
  out[0] = a;
  out[1] = 0.5f * (a + b + c);
  out[2] = 0.5f * (a - b + c);
  out[3] = c;
}

__device__ void transform_input(float& a, float& b, float& c, float& d) {
  const float first = a - c, second = b + c, third = c - b, fourth = b - d;
  a = first;
  b = second;
  c = third;
  d = fourth;
}

// Two by two outputs per thread.
__global__ void winograd(const float* x, const float* weight, const float* conv_bias,
                         const float* bias, float* y, int64_t tiles, int64_t in_channels,
                         int64_t out_channels, int64_t height, int64_t width) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= tiles) return;
  const int64_t out_height = height - 2, out_width = width - 2;
  const int64_t across = (out_width + 1) / 2, down = (out_height + 1) / 2;
  const int64_t column = 2 * (i % across), row = 2 * (i / across % down);
  const int64_t o = i / across / down % out_channels, n = i / across / down / out_channels;
  float m[4][4] = {};
  for (int64_t c = 0; c < in_channels; ++c) {
    const float* image = x + (n * in_channels + c) * height * width;
    float d[4][4];
    for (int p = 0; p < 4; ++p) {
      for (int q = 0; q < 4; ++q) {
        const bool inside = row + p < height && column + q < width;
        d[p][q] = inside ? image[(row + p) * width + column + q] : 0;
      }
    }
    for (int p = 0; p < 4; ++p) transform_input(d[p][0], d[p][1], d[p][2], d[p][3]);
    for (int q = 0; q < 4; ++q) transform_input(d[0][q], d[1][q], d[2][q], d[3][q]);
    float rows[3][4];
    const float* g = weight + (o * in_channels + c) * 9;
    for (int p = 0; p < 3; ++p) transform_filter(g + 3 * p, 1, rows[p]);
    for (int q = 0; q < 4; ++q) {
      float u[4];
      transform_filter(rows[0] + q, 4, u);
      for (int p = 0; p < 4; ++p) m[p][q] += u[p] * d[p][q];
    }
  }
  float half[2][4];
  for (int q = 0; q < 4; ++q) {
    half[0][q] = m[0][q] + m[1][q] + m[2][q];
    half[1][q] = m[1][q] - m[2][q] - m[3][q];
  }
  for (int p = 0; p < 2; ++p) {
    const float pair[2] = {half[p][0] + half[p][1] + half[p][2],
                           half[p][1] - half[p][2] - half[p][3]};
    for (int q = 0; q < 2; ++q) {
      if (row + p >= out_height || column + q >= out_width) continue;
      const float sum = pair[q];
      y[((n * out_channels + o) * out_height + row + p) * out_width + column + q] =
          fmaxf(sum + conv_bias[o], 0) + bias[o];
    }
  }
}

void task::launch(const Sizes& s, const float* x, const float* bias, const float* conv_weight,
                  const float* conv_bias, float* y, cudaStream_t stream) {
  const int64_t k = s.kernel_size, out_height = s.height - k + 1, out_width = s.width - k + 1;
  const int64_t images = s.batch_size * s.out_channels;
  if (k != 3) {
    const int64_t outputs = images * out_height * out_width;
    direct<<<(outputs + 127) / 128, 128, 0, stream>>>(x, conv_weight, conv_bias, bias, y, outputs,
                                                      s.in_channels, s.out_channels, s.height,
                                                      s.width, k);
    return;
  }
  const int64_t tiles = images * ((out_height + 1) / 2) * ((out_width + 1) / 2);
  winograd<<<(tiles + 127) / 128, 128, 0, stream>>>(
      x, conv_weight, conv_bias, bias, y, tiles, s.in_channels, s.out_channels, s.height, s.width);
}
