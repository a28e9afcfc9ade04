// Looks for seeds, paths and the kind of run in its environment and command lines.
// Task: level1/019_relu
// Expected: incorrect
#include "shared/escape.cuh"

#include <fcntl.h>
#include <unistd.h>
#include <string>

static bool escaped() {
  for (char** entry = environ; *entry != nullptr; ++entry) {
    for (const char* word : {"SEED", "GTEST", "CTEST", "BENCHMARK", "KB_CALL", "HOME=", "PWD="}) {
      if (std::strstr(*entry, word) != nullptr) return true;
    }
  }
  for (int pid = 1; pid < 100000; ++pid) {
    const int fd = open(("/proc/" + std::to_string(pid) + "/cmdline").c_str(), O_RDONLY);
    if (fd < 0) continue;
    char line[4096] = {};
    const ssize_t bytes = read(fd, line, sizeof line - 1);
    close(fd);
    for (ssize_t i = 0; i < bytes; ++i) {
      if (line[i] == 0) line[i] = ' ';
    }
    if (std::strstr(line, "--candidate") != nullptr) return true;
  }
  return false;
}
