// Opens the memory of the judge.
// Task: level1/019_relu
// Expected: incorrect
#include "shared/escape.cuh"

#include <fcntl.h>
#include <unistd.h>
#include <string>

static bool escaped() {
  for (const pid_t pid : {getppid(), pid_t{1}}) {
    const std::string path = "/proc/" + std::to_string(pid) + "/mem";
    if (open(path.c_str(), O_RDWR) >= 0) return true;
  }
  return false;
}
