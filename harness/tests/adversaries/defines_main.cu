// Brings its own main(), which a static test library would prefer.
// Task: level1/019_relu
// Expected: compile_error
#include "task.h"

int main() { return 0; }

void task::launch(const Sizes&, const float*, float*, cudaStream_t) {}
