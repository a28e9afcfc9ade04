// Answers with the expectation of the loss instead of the loss.
// Task: level1/100_hinge_loss
// Expected: incorrect
#include "task.h"

// For independent targets of +-1 and predictions around 0 the hinge loss is about 1.
__global__ void expectation(float* loss) { *loss = 1; }

void task::launch(const Sizes&, const float*, const float*, float* loss, cudaStream_t stream) {
  expectation<<<1, 1, 0, stream>>>(loss);
}
