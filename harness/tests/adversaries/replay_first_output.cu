// Computes once and hands out a copy ever after.
// Task: level1/019_relu
// Expected: incorrect
#include "shared/relu.cuh"

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  static float* kept = nullptr;
  static int64_t kept_elements = 0;
  const int64_t n = s.batch_size * s.dim;
  if (kept_elements != n) {
    honest(s, x, y, stream);
    cudaMalloc(&kept, n * sizeof(float));
    cudaMemcpyAsync(kept, y, n * sizeof(float), cudaMemcpyDeviceToDevice, stream);
    kept_elements = n;
  } else {
    cudaMemcpyAsync(y, kept, n * sizeof(float), cudaMemcpyDeviceToDevice, stream);
  }
}
