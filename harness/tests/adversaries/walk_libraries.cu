// Looks for the reference or PyTorch among the libraries of its process.
// Task: level1/019_relu
// Expected: incorrect
#include "shared/escape.cuh"

#include <link.h>

static bool escaped() {
  bool found = false;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* found) {
        for (const char* word : {"torch", "reference", "judge", "gtest", "level1.019_relu"}) {
          if (std::strstr(info->dlpi_name, word) != nullptr) *static_cast<bool*>(found) = true;
        }
        return 0;
      },
      &found);
  return found;
}
