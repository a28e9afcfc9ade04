// Becomes another program.
// Task: level1/019_relu
// Expected: incorrect
#include "shared/escape.cuh"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool escaped() {
  const char* const arguments[] = {"true", nullptr};
  syscall(SYS_execve, "/usr/bin/true", arguments, arguments);
  syscall(SYS_execveat, AT_FDCWD, "/bin/true", arguments, arguments, 0);
  return false;  // the end of this process would be a runtime_error
}
