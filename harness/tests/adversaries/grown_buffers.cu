// Lets the memory that it shares with its judge grow, which outlives it and stops the next tensor.
// Task: level1/019_relu
// Expected: runtime_error
// Backends: cpu
#include "shared/escape.cuh"

#include <sys/syscall.h>
#include <unistd.h>

static bool escaped() {
  for (int fd = 3; fd < 10; ++fd) {
    if (syscall(SYS_fallocate, fd, 0, 0, int64_t{64} << 20) == 0) return true;
  }
  return false;
}
