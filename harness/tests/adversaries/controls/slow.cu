// Takes its time.
// Task: level1/019_relu
// Expected: pass
#include "../shared/relu.cuh"

#include <unistd.h>

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  usleep(50000);
  honest(s, x, y, stream);
}
