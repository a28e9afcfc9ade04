// Writes code through one view of memory and runs it through another that may not be written.
// Task: level1/019_relu
// Expected: incorrect
#include "shared/escape.cuh"

#include <sys/mman.h>
#include <unistd.h>

// Two views of the same memory, one of them executable.
static bool both_views(int fd, int flags) {
  void* code = mmap(nullptr, 4096, PROT_READ | PROT_EXEC, flags, fd, 0);
  if (code == MAP_FAILED) return false;
  munmap(code, 4096);
  return true;
}

static bool escaped_now() {
  if (both_views(-1, MAP_SHARED | MAP_ANONYMOUS)) return true;
  for (int fd = 3; fd < 16; ++fd) {
    if (both_views(fd, MAP_SHARED) || both_views(fd, MAP_PRIVATE)) return true;
  }
  return false;
}

// Also before launch(), when a module could expect walls that do not stand yet.
static const bool early = escaped_now();

static bool escaped() { return early || escaped_now(); }
