// Takes its time for the first calls only.
// Task: level1/019_relu
// Expected: pass
#include "../shared/relu.cuh"

#include <unistd.h>

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  static int calls = 0;
  if (calls++ < 5) usleep(100000);
  honest(s, x, y, stream);
}
