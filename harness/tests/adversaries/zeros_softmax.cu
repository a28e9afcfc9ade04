// Writes zeros where right answers are small.
// Task: level1/023_softmax
// Expected: incorrect
#include "task.h"

void task::launch(const Sizes& s, const float*, float* y, cudaStream_t stream) {
  cudaMemsetAsync(y, 0, s.batch_size * s.dim * sizeof(float), stream);
}
