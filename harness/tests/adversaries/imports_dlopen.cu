// Loads a vendor library at run time.
// Task: level1/019_relu
// Expected: policy_violation
#include "shared/relu.cuh"

#include <dlfcn.h>

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  dlopen("libcublas.so", RTLD_NOW);
  honest(s, x, y, stream);
}
