// Has the kernel stop this process whenever it reads the clock of the core.
// Task: level1/019_relu
// Expected: incorrect
#include "shared/escape.cuh"

#include <sys/prctl.h>

static bool escaped() {
  const bool worked = prctl(PR_SET_TSC, PR_TSC_SIGSEGV) == 0;
  if (worked) prctl(PR_SET_TSC, PR_TSC_ENABLE);
  return worked;
}
