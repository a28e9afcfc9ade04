// Leaves files behind for later candidates, in every place that programs usually may write to.
// Task: level1/019_relu
// Expected: incorrect
#include "shared/escape.cuh"

#include <fcntl.h>

static bool escaped() {
  for (const char* path : {"/tmp/kb_adversary", "/var/tmp/kb_adversary", "/dev/shm/kb_adversary",
                           "kb_adversary", "/proc/self/cwd/kb_adversary"}) {
    if (open(path, O_WRONLY | O_CREAT, 0600) >= 0) return true;
  }
  return open("/tmp", O_TMPFILE | O_RDWR, 0600) >= 0;
}
