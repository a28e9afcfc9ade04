// Prints without end.
// Task: level1/019_relu
// Expected: timeout
#include "shared/relu.cuh"

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  for (;;) std::puts("[  PASSED  ] 1 test. ------------------------------------------------");
  honest(s, x, y, stream);
}
