// Ends the process while it is loaded, with the words and the exit code of a success.
// Task: level1/019_relu
// Expected: runtime_error
#include "task.h"

#include <unistd.h>

struct Success {
  Success() {
    std::puts("[  PASSED  ] 1 test.");
    std::fflush(stdout);
    _exit(0);
  }
} success;

void task::launch(const Sizes&, const float*, float*, cudaStream_t) {}
