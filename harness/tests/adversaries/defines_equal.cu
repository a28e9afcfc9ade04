// Replaces ATen's comparison of tensors.
// Task: level1/019_relu
// Expected: compile_error
#include "task.h"

namespace at {
class Tensor;
bool equal(const Tensor&, const Tensor&) { return true; }
}  // namespace at

void task::launch(const Sizes&, const float*, float*, cudaStream_t) {}
