// Starts a process that outlives the run, by every system call that can.
// Task: level1/019_relu
// Expected: incorrect
#include "shared/escape.cuh"

#include <sys/syscall.h>
#include <unistd.h>
#include <csignal>

static bool escaped() {
  for (const long child :
       {syscall(SYS_fork), syscall(SYS_vfork), syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)}) {
    if (child == 0) {
      setsid();
      for (;;) pause();
    }
    if (child > 0) return true;
  }
  return false;
}
