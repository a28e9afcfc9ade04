// Compiles but cannot be linked: it must not stop the build of the others.
// Task: level1/019_relu
// Expected: compile_error
#include "task.h"

extern "C" __attribute__((visibility("hidden"))) int nowhere();

void task::launch(const Sizes&, const float*, float* y, cudaStream_t) {
  if (nowhere() != 0) y = nullptr;
}
