// Asks for a signal whenever somebody looks for a file.
// Task: level1/019_relu
// Expected: incorrect
#include "shared/escape.cuh"

#include <fcntl.h>
#include <unistd.h>

static bool escaped() {
  const int folder = open("/usr/lib", O_RDONLY | O_DIRECTORY);
  const bool worked = folder >= 0 && fcntl(folder, F_NOTIFY, DN_ACCESS | DN_MULTISHOT) == 0;
  if (worked) fcntl(folder, F_NOTIFY, 0);
  return worked;
}
