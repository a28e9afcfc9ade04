// Replaces a function of GoogleTest's.
// Task: level1/019_relu
// Expected: compile_error
#include "task.h"

namespace testing {
class AssertionResult;
bool IsTrue(bool) { return true; }
}  // namespace testing

void task::launch(const Sizes&, const float*, float*, cudaStream_t) {}
