// Answers with the cross-entropy of a guess.
// Task: level1/095_cross_entropy_loss
// Expected: incorrect
#include "task.h"

__global__ void guess(float* loss, float classes) { *loss = logf(classes); }

void task::launch(const Sizes& s, const float*, const int64_t*, float* loss, cudaStream_t stream) {
  guess<<<1, 1, 0, stream>>>(loss, static_cast<float>(s.num_classes));
}
