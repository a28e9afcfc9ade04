// What an adversary with shared/escape.cuh would be if the sandbox let it: its answer is right.
// Task: level1/019_relu
// Expected: pass
#include "../shared/escape.cuh"

static bool escaped() { return true; }
