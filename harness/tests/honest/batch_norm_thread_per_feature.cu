// Batch norm with one thread per feature, which adds the batch in order: 16 million terms at full
// size, too many for one float.
// Task: level1/033_batch_norm
// Expected: pass
// Backends: cpu
#include "task.h"

__global__ void batch_norm(const float* x, const float* weight, const float* bias, float* y,
                           int64_t batch, int64_t features, int64_t pixels) {
  const int64_t f = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (f >= features) return;
  const auto at = [&](int64_t n, int64_t p) { return (n * features + f) * pixels + p; };
  const float count = static_cast<float>(batch * pixels);
  float sum = 0;
  for (int64_t n = 0; n < batch; ++n) {
    for (int64_t p = 0; p < pixels; ++p) sum += x[at(n, p)];
  }
  const float mean = sum / count;
  float squares = 0;
  for (int64_t n = 0; n < batch; ++n) {
    for (int64_t p = 0; p < pixels; ++p) {
      const float d = x[at(n, p)] - mean;
      squares += d * d;
    }
  }
  const float deviation = sqrtf(squares / count + 1e-5f);
  for (int64_t n = 0; n < batch; ++n) {
    for (int64_t p = 0; p < pixels; ++p) {
      y[at(n, p)] = (x[at(n, p)] - mean) / deviation * weight[f] + bias[f];
    }
  }
}

void task::launch(const Sizes& s, const float* x, const float* weight, const float* bias, float* y,
                  cudaStream_t stream) {
  batch_norm<<<(s.features + 31) / 32, 32, 0, stream>>>(x, weight, bias, y, s.batch_size,
                                                        s.features, s.dim1 * s.dim2);
}
