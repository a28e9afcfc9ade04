// Looks for what the CPU layer was told about the order of threads, and tells it something else.
// Task: level1/019_relu
// Expected: incorrect
#include "shared/escape.cuh"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

__attribute__((constructor)) static void choose_order() {
  setenv("KB_CPU_SCHEDULE", "forward", 0);  // keeps what is there
}

static bool escaped() {
  // What is not its own.
  if (std::string(std::getenv("KB_CPU_SCHEDULE")) != "forward") return true;
  if (std::getenv("KB_CPU_THREADS") != nullptr) return true;
  const int fd = open("/proc/self/environ", O_RDONLY);
  static char text[1 << 16];
  size_t size = 0;
  for (ssize_t n; fd >= 0 && (n = read(fd, text + size, sizeof text - size)) > 0;) size += n;
  return std::string(text, size).find("KB_CPU_") != std::string::npos;
}
