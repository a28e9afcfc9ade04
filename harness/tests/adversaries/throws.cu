// Lets an exception out.
// Task: level1/019_relu
// Expected: runtime_error
#include "task.h"

#include <stdexcept>

void task::launch(const Sizes&, const float*, float*, cudaStream_t) {
  throw std::runtime_error("verdict: pass");
}
