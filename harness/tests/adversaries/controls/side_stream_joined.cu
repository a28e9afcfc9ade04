// Uses a second stream, forked from and joined with the given one by events.
// Task: level1/019_relu
// Expected: pass
#include "../shared/relu.cuh"

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  static cudaStream_t side = nullptr;
  static cudaEvent_t forked = nullptr, joined = nullptr;
  if (side == nullptr) {
    cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&forked, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&joined, cudaEventDisableTiming);
  }
  cudaEventRecord(forked, stream);
  cudaStreamWaitEvent(side, forked, 0);
  honest(s, x, y, side);
  cudaEventRecord(joined, side);
  cudaStreamWaitEvent(stream, joined, 0);
}
