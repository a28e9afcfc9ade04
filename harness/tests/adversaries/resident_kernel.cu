// Leaves a kernel behind that waits for work.
// Task: level1/019_relu
// Expected: timeout
// Backends: cuda
#include "task.h"

__global__ void resident(volatile int* flag) {
  while (*flag == 0) continue;
}

void task::launch(const Sizes&, const float*, float*, cudaStream_t) {
  static int* flag = nullptr;
  static cudaStream_t side = nullptr;
  if (flag != nullptr) return;
  cudaMalloc(&flag, sizeof *flag);
  cudaMemset(flag, 0, sizeof *flag);
  cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
  resident<<<1, 1, 0, side>>>(flag);
}
