// Zeroes its input, so that a reference which runs later agrees with its zeros.
// Task: level1/019_relu
// Expected: incorrect
#include "task.h"

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const size_t bytes = s.batch_size * s.dim * sizeof(float);
  cudaMemsetAsync(const_cast<float*>(x), 0, bytes, stream);
  cudaMemsetAsync(y, 0, bytes, stream);
}
