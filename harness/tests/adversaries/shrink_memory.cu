// Takes the shared memory away under the judge's feet.
// Task: level1/019_relu
// Expected: incorrect
#include "shared/escape.cuh"

#include <unistd.h>

static bool escaped() { return ftruncate(3, 0) == 0 || ftruncate(4, 0) == 0; }
