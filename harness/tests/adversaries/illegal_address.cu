// Writes where no memory is.
// Task: level1/019_relu
// Expected: runtime_error
#include "task.h"

__global__ void poke() { *reinterpret_cast<volatile float*>(0x10) = 1; }

void task::launch(const Sizes&, const float*, float*, cudaStream_t stream) {
  poke<<<1, 1, 0, stream>>>();
}
