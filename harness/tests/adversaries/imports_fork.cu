// Starts a daemon, in plain words.
// Task: level1/019_relu
// Expected: policy_violation
#include "task.h"

#include <unistd.h>

void task::launch(const Sizes&, const float*, float*, cudaStream_t) {
  if (fork() == 0) {
    setsid();
    for (;;) pause();
  }
}
