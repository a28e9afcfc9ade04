// Skips scale and shift, which are 1 and 0 in a fresh model.
// Task: level1/040_layer_norm
// Expected: incorrect
#include "task.h"

// One thread per sample.
__global__ void layer_norm(const float* x, float* y, int64_t samples, int64_t n) {
  const int64_t sample = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (sample >= samples) return;
  x += sample * n;
  y += sample * n;
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < n; ++i) sum += x[i];
  const double mean = sum / n;
  for (int64_t i = 0; i < n; ++i) squares += (x[i] - mean) * (x[i] - mean);
  for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) / sqrt(squares / n + 1e-5);
}

void task::launch(const Sizes& s, const float* x, const float*, const float*, float* y,
                  cudaStream_t stream) {
  const int64_t n = s.features * s.dim1 * s.dim2;
  layer_norm<<<(s.batch_size + 31) / 32, 32, 0, stream>>>(x, y, s.batch_size, n);
}
