// Moves to the judge's core, or slows down everybody else of its user.
// Task: level1/019_relu
// Expected: incorrect
#include "shared/escape.cuh"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool escaped() {
  cpu_set_t all;
  std::memset(&all, 0xFF, sizeof all);
  return syscall(SYS_sched_setaffinity, 0, sizeof all, &all) >= 0 ||
         syscall(SYS_sched_setaffinity, getppid(), sizeof all, &all) >= 0 ||
         setpriority(PRIO_USER, 0, 19) == 0 || setpriority(PRIO_PROCESS, getppid(), 19) == 0;
}
