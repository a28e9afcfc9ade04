// Makes memory executable, to run code that no audit has seen.
// Task: level1/019_relu
// Expected: incorrect
#include "shared/escape.cuh"

#include <sys/mman.h>

static bool escaped() {
  void* both =
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (both != MAP_FAILED) return true;
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0;
}
