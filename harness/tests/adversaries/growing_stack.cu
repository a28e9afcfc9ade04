// Takes memory that grows downwards: it counts as a stack, and the limit of memory leaves it out.
// Task: level1/019_relu
// Expected: incorrect
#include "shared/escape.cuh"

#include <sys/mman.h>

static bool escaped() {
  constexpr size_t bytes = size_t{1} << 20;
  return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN,
              -1, 0) != MAP_FAILED;
}
