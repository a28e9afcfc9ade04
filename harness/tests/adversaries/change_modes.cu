// Changes mode, times and attributes of a file that others need: its own runner, which serves the
// next candidate too. The mode does no harm, should it work.
// Task: level1/019_relu
// Expected: incorrect
#include "shared/escape.cuh"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool escaped() {
  const char* file = "/proc/self/exe";
  constexpr long fchmodat2 = 452, setxattrat = 463;  // newer than some C libraries
  const struct {
    const void* value;
    unsigned size, flags;
  } attribute{"x", 1, 0};
  return syscall(SYS_chmod, file, 0755) == 0 || syscall(SYS_fchmodat, AT_FDCWD, file, 0755) == 0 ||
         syscall(fchmodat2, AT_FDCWD, file, 0755, 0) == 0 ||
         syscall(SYS_utime, file, nullptr) == 0 || syscall(SYS_utimes, file, nullptr) == 0 ||
         syscall(SYS_futimesat, AT_FDCWD, file, nullptr) == 0 ||
         syscall(SYS_utimensat, AT_FDCWD, file, nullptr, 0) == 0 ||
         syscall(SYS_setxattr, file, "user.kb", "x", 1, 0) == 0 ||
         syscall(setxattrat, AT_FDCWD, file, 0, "user.kb", &attribute, sizeof attribute) == 0;
}
