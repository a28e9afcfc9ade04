// Keeps nearly all of the device's memory, so that its full size cannot be judged.
// Task: level1/019_relu
// Expected: runtime_error
// Says: the candidate keeps memory
// Backends: cuda
#include "shared/relu.cuh"

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  static void* kept = nullptr;
  if (kept == nullptr) {
    constexpr size_t left = size_t{1} << 30;
    size_t free_bytes = 0, all = 0;
    cudaMemGetInfo(&free_bytes, &all);
    if (free_bytes > left) cudaMalloc(&kept, free_bytes - left);
  }
  honest(s, x, y, stream);
}
