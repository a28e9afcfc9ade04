// Overflows its stack on the host.
// Task: level1/019_relu
// Expected: runtime_error
#include "task.h"

static int descend(int depth) {
  volatile char frame[65536];
  frame[depth % sizeof frame] = 1;
  return descend(depth + 1) + frame[0];
}

void task::launch(const Sizes&, const float*, float*, cudaStream_t) {
  std::printf("%d\n", descend(0));
}
