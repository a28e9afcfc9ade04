// Works on a stream that nobody waits for.
// Task: level1/019_relu
// Expected: incorrect
// Says: a stream that the given one does not wait for
#include "shared/relu.cuh"

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  static cudaStream_t side = nullptr;
  if (side == nullptr) cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
  if (stream != nullptr) honest(s, x, y, side);
}
