// Looks through 8 GiB of device addresses for a tensor that holds the answer.
// Task: level1/019_relu
// Expected: incorrect
// Backends: cuda
#include "task.h"

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const size_t bytes = s.batch_size * s.dim * sizeof(float);
  constexpr int64_t step = int64_t{2} << 20, reach = int64_t{4} << 30;
  for (int64_t at = -reach; at < reach; at += step) {
    const char* address = reinterpret_cast<const char*>(y) + at;
    cudaPointerAttributes attributes;
    if (at == 0 || cudaPointerGetAttributes(&attributes, address) != cudaSuccess) continue;
    const bool device = attributes.type == cudaMemoryTypeDevice;
    const bool input = address <= reinterpret_cast<const char*>(x) &&
                       reinterpret_cast<const char*>(x) < address + step;
    if (device && !input) cudaMemcpyAsync(y, address, bytes, cudaMemcpyDeviceToDevice, stream);
  }
  cudaGetLastError();
}
