// Signals the judge. Signal 0 only asks whether it may.
// Task: level1/019_relu
// Expected: incorrect
#include "shared/escape.cuh"

#include <sys/syscall.h>
#include <unistd.h>

static bool escaped() {
  const pid_t judge = getppid();
  return syscall(SYS_kill, judge, 0) == 0 || syscall(SYS_tgkill, judge, judge, 0) == 0 ||
         syscall(SYS_tkill, judge, 0) == 0 || syscall(SYS_pidfd_open, judge, 0) >= 0;
}
