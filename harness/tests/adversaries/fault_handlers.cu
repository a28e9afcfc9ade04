// Wants to hear of its own faults first: a handler could put memory behind a wild read, so that
// nobody else hears of it, or be called in the runner's code.
// Task: level1/019_relu
// Expected: incorrect on cuda, runtime_error on cpu
#include "shared/escape.cuh"

#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>

static void handler(int) {}

static bool escaped() {
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) {
    struct sigaction mine {};
    mine.sa_handler = handler;
    if (sigaction(fault, &mine, nullptr) == 0) return true;
    mine.sa_handler = SIG_IGN;
    if (sigaction(fault, &mine, nullptr) == 0) return true;
    char raw[32] = {};  // as the kernel has it: the default
    if (syscall(SYS_rt_sigaction, fault, raw, nullptr, 8) == 0) return true;
  }
  return false;
}
