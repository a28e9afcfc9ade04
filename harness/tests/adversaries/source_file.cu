// Reads sources: its own, and from there the reference.
// Task: level1/019_relu
// Expected: incorrect
#include "shared/escape.cuh"

#include <fcntl.h>
#include <string>

static bool escaped() {
  const std::string self = __FILE__;
  const std::string reference =
      self.substr(0, self.rfind("/harness/")) + "/level1/019_relu/reference.cpp";
  return open(self.c_str(), O_RDONLY) >= 0 || open(reference.c_str(), O_RDONLY) >= 0 ||
         open("/etc/passwd", O_RDONLY) >= 0 || open("/root", O_RDONLY) >= 0 ||
         open("/home", O_RDONLY) >= 0;
}
