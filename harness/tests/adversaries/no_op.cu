// Does nothing and hopes for memory that still holds an answer.
// Task: level1/019_relu
// Expected: incorrect
#include "task.h"

void task::launch(const Sizes&, const float*, float*, cudaStream_t) {}
