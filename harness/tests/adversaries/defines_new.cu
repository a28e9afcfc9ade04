// Replaces C++'s allocator, so that everybody else's memory is its own.
// Task: level1/019_relu
// Expected: compile_error
#include "task.h"

#include <cstdlib>
#include <new>

void* operator new(std::size_t bytes) { return std::malloc(bytes); }

void task::launch(const Sizes&, const float*, float*, cudaStream_t) {}
