// Packs the weights at its first call and never looks at them again.
// Task: level1/040_layer_norm
// Expected: incorrect
#include "task.h"

// One thread per sample; scale and shift are those of the first call.
__global__ void layer_norm(const float* x, const float* weight, const float* bias, float* y,
                           int64_t samples, int64_t n) {
  const int64_t sample = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (sample >= samples) return;
  x += sample * n;
  y += sample * n;
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < n; ++i) sum += x[i];
  const double mean = sum / n;
  for (int64_t i = 0; i < n; ++i) squares += (x[i] - mean) * (x[i] - mean);
  const double scale = 1 / sqrt(squares / n + 1e-5);
  for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * scale * weight[i] + bias[i];
}

void task::launch(const Sizes& s, const float* x, const float* weight, const float* bias, float* y,
                  cudaStream_t stream) {
  const int64_t n = s.features * s.dim1 * s.dim2;
  static float* packed = nullptr;
  static int64_t packed_elements = 0;
  if (packed_elements != n) {
    cudaMalloc(&packed, 2 * n * sizeof(float));
    cudaMemcpyAsync(packed, weight, n * sizeof(float), cudaMemcpyDeviceToDevice, stream);
    cudaMemcpyAsync(packed + n, bias, n * sizeof(float), cudaMemcpyDeviceToDevice, stream);
    packed_elements = n;
  }
  layer_norm<<<(s.batch_size + 31) / 32, 32, 0, stream>>>(x, packed, packed + n, y, s.batch_size,
                                                          n);
}
