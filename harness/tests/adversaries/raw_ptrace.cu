// Attaches to its parent, or reads its memory, past the import check by a bare system call.
// Task: level1/019_relu
// Expected: incorrect
#include "shared/escape.cuh"

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static bool escaped() {
  char byte = 0;
  iovec here{&byte, 1}, there{reinterpret_cast<void*>(&byte), 1};
  return syscall(SYS_ptrace, PTRACE_SEIZE, getppid(), 0, 0) == 0 ||
         syscall(SYS_process_vm_readv, getppid(), &here, 1, &there, 1, 0) == 1;
}
