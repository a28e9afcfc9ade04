// Ends the process with exit code 0 before anything can be compared.
// Task: level1/019_relu
// Expected: runtime_error
#include "shared/relu.cuh"

#include <cstdlib>

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  honest(s, x, y, stream);
  std::quick_exit(0);
}
