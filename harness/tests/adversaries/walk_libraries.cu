// Looks for the reference or PyTorch among the libraries of its process.
// Task: level1/019_relu
// Expected: incorrect
#include "task.h"

#include <link.h>

__global__ void relu(const float* x, float* y, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] > 0 ? x[i] : 0;
}

static void honest(const task::Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const int64_t n = s.batch_size * s.dim;
  relu<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}

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

// The right answer tells that it worked.
void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  static const bool worked = escaped();
  if (worked) honest(s, x, y, stream);
}
