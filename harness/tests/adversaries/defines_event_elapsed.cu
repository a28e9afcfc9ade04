// Replaces the function that reads a timer: a thousandth of a millisecond for everything.
// Task: level1/019_relu
// Expected: compile_error
#include "task.h"

extern "C" cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t, cudaEvent_t) {
  *ms = 1e-3f;
  return cudaSuccess;
}

void task::launch(const Sizes&, const float*, float*, cudaStream_t) {}
