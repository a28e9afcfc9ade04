// Takes memory that counts against no limit of a process: shared and without a file.
// Task: level1/019_relu
// Expected: incorrect
// Backends: cpu
#include "shared/escape.cuh"

#include <sys/mman.h>

static bool escaped() {
  constexpr size_t size = size_t{64} << 20;
  return mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) !=
         MAP_FAILED;
}
