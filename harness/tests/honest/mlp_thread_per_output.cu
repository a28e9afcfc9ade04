// Perceptron, one kernel per layer and one thread per output.
// Task: level3/001_mlp
// Expected: pass
#include "task.h"

__global__ void linear(const float* x, const float* weight, const float* bias, float* y,
                       int64_t outputs, int64_t depth, int64_t columns, bool relu) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= outputs) return;
  float sum = bias[i % columns];
  for (int64_t k = 0; k < depth; ++k) {
    sum += x[i / columns * depth + k] * weight[i % columns * depth + k];
  }
  y[i] = relu && sum < 0 ? 0 : sum;
}

void task::launch(const Sizes& s, const float* x, const kb::Weights& weights, float* y,
                  cudaStream_t stream) {
  const int64_t rows = s.batch_size, wide = s.layer_sizes[0], next = s.layer_sizes[1];
  float* hidden = nullptr;
  cudaMallocAsync(&hidden, rows * (wide + next) * sizeof(float), stream);
  float* second = hidden + rows * wide;
  const auto layer = [&](const float* in, int64_t depth, const char* weight, const char* bias,
                         float* out, int64_t columns, bool relu) {
    const int64_t n = rows * columns;
    linear<<<(n + 127) / 128, 128, 0, stream>>>(in, weights[weight], weights[bias], out, n, depth,
                                                columns, relu);
  };
  layer(x, s.input_size, "network.0.weight", "network.0.bias", hidden, wide, true);
  layer(hidden, wide, "network.2.weight", "network.2.bias", second, next, true);
  layer(second, next, "network.4.weight", "network.4.bias", y, s.output_size, false);
  cudaFreeAsync(hidden, stream);
}
