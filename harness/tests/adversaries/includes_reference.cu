// Compiles the reference into itself.
// Task: level1/019_relu
// Expected: compile_error
#include "task.h"

#include "reference.cpp"

void task::launch(const Sizes&, const float*, float*, cudaStream_t) {}
