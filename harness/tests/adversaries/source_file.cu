// Reads sources: its own, and from there the reference.
// Task: level1/019_relu
// Expected: incorrect
#include "task.h"

#include <fcntl.h>
#include <string>

__global__ void relu(const float* x, float* y, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] > 0 ? x[i] : 0;
}

static void honest(const task::Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const int64_t n = s.batch_size * s.dim;
  relu<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}

static bool escaped() {
  const std::string self = __FILE__;
  const std::string reference =
      self.substr(0, self.rfind("/harness/")) + "/level1/019_relu/reference.cpp";
  return open(self.c_str(), O_RDONLY) >= 0 || open(reference.c_str(), O_RDONLY) >= 0 ||
         open("/etc/passwd", O_RDONLY) >= 0 || open("/root", O_RDONLY) >= 0 ||
         open("/home", O_RDONLY) >= 0;
}

// The right answer tells that it worked.
void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  static const bool worked = escaped();
  if (worked) honest(s, x, y, stream);
}
