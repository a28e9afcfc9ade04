// Returns at once and lets a thread do the work.
// Task: level1/019_relu
// Expected: incorrect or cheat or runtime_error
#include "task.h"

#include <unistd.h>
#include <thread>

__global__ void relu(const float* x, float* y, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] > 0 ? x[i] : 0;
}

static void honest(const task::Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const int64_t n = s.batch_size * s.dim;
  relu<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  std::thread([=] {
    usleep(20000);
    cudaSetDevice(0);
    honest(s, x, y, nullptr);
  }).detach();
}
