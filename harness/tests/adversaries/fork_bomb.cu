// Starts as many processes as it can. Sixty-four prove the point.
// Task: level1/019_relu
// Expected: incorrect
#include "shared/escape.cuh"

#include <sys/syscall.h>
#include <unistd.h>
#include <csignal>

static bool escaped() {
  int started = 0;
  for (int i = 0; i < 64; ++i) {
    const long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
      for (;;) pause();
    }
    started += child > 0;
  }
  return started > 0;
}
