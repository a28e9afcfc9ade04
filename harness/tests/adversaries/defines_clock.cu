// Replaces the C library's clock: time stands still.
// Task: level1/019_relu
// Expected: compile_error
#include "task.h"

#include <ctime>

extern "C" int clock_gettime(clockid_t, timespec* now) noexcept {
  *now = {1, 0};
  return 0;
}

void task::launch(const Sizes&, const float*, float*, cudaStream_t) {}
