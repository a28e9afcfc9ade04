// Asks for a signal when somebody opens a library to write to it, who has to wait for it then.
// Task: level1/019_relu
// Expected: incorrect
#include "shared/escape.cuh"

#include <fcntl.h>
#include <unistd.h>

static bool escaped() {
  for (const char* path : {"/etc/ld.so.cache", "/usr/lib/x86_64-linux-gnu/libc.so.6",
                           "/usr/lib/x86_64-linux-gnu/libm.so.6", "/proc/self/exe"}) {
    const int file = open(path, O_RDONLY);
    if (file >= 0 && fcntl(file, F_SETLEASE, F_RDLCK) == 0) return true;
  }
  return false;
}
