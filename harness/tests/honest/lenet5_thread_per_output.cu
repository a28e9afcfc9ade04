// LeNet-5: direct convolutions that pool where they store, then linear layers, one thread per
// output.
// Task: level3/004_lenet5
// Expected: pass
#include "task.h"

// A convolution without padding, ReLU, and the largest of 2 x 2.
__global__ void conv_pool(const float* x, const float* weight, const float* bias, float* y,
                          int64_t n, int in_channels, int out_channels, int side, int k) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int pooled = (side - k + 1) / 2;
  const int column = i % pooled * 2, row = i / pooled % pooled * 2;
  const int o = i / (pooled * pooled) % out_channels;
  const float* sample = x + i / (pooled * pooled * out_channels) * in_channels * side * side;
  float largest = 0;
  for (int part = 0; part < 4; ++part) {
    float sum = bias[o];
    for (int c = 0; c < in_channels; ++c) {
      for (int p = 0; p < k; ++p) {
        for (int q = 0; q < k; ++q) {
          sum += sample[(c * side + row + part / 2 + p) * side + column + part % 2 + q] *
                 weight[((o * in_channels + c) * k + p) * k + q];
        }
      }
    }
    largest = fmaxf(largest, sum);
  }
  y[i] = largest;
}

__global__ void linear(const float* x, const float* weight, const float* bias, float* y, int64_t n,
                       int depth, int columns, bool relu) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int column = i % columns;
  float sum = 0;
  for (int k = 0; k < depth; ++k) sum += x[i / columns * depth + k] * weight[column * depth + k];
  sum += bias[column];
  y[i] = relu ? fmaxf(sum, 0) : sum;
}

void task::launch(const Sizes& s, const float* x, const kb::Weights& weights, float* y,
                  cudaStream_t stream) {
  const int64_t rows = s.batch_size;
  const int first = 6 * 14 * 14, second = 16 * 5 * 5, third = 120, fourth = 84;
  float* memory = nullptr;
  cudaMallocAsync(&memory, rows * (first + second + third + fourth) * sizeof(float), stream);
  float *a = memory, *b = a + rows * first, *c = b + rows * second, *d = c + rows * third;
  const auto blocks = [&](int64_t columns) { return (rows * columns + 127) / 128; };
  conv_pool<<<blocks(first), 128, 0, stream>>>(x, weights["conv1.weight"], weights["conv1.bias"], a,
                                               rows * first, 1, 6, 32, 5);
  conv_pool<<<blocks(second), 128, 0, stream>>>(a, weights["conv2.weight"], weights["conv2.bias"],
                                                b, rows * second, 6, 16, 14, 5);
  linear<<<blocks(third), 128, 0, stream>>>(b, weights["fc1.weight"], weights["fc1.bias"], c,
                                            rows * third, second, third, true);
  linear<<<blocks(fourth), 128, 0, stream>>>(c, weights["fc2.weight"], weights["fc2.bias"], d,
                                             rows * fourth, third, fourth, true);
  linear<<<blocks(s.num_classes), 128, 0, stream>>>(d, weights["fc3.weight"], weights["fc3.bias"],
                                                    y, rows * s.num_classes, fourth, s.num_classes,
                                                    false);
  cudaFreeAsync(memory, stream);
}
