// Allocates its workspace on the stream.
// Task: level1/019_relu
// Expected: pass
#include "../shared/relu.cuh"

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const size_t bytes = s.batch_size * s.dim * sizeof(float);
  float* workspace = nullptr;
  cudaMallocAsync(&workspace, bytes, stream);
  honest(s, x, workspace, stream);
  cudaMemcpyAsync(y, workspace, bytes, cudaMemcpyDeviceToDevice, stream);
  cudaFreeAsync(workspace, stream);
}
