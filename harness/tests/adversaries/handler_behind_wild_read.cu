// Reads far behind its input. A handler of its own is to put memory there and go on.
// Task: level1/019_relu
// Expected: runtime_error
// Backends: cpu
#include "task.h"

#include <sys/mman.h>

#include <csignal>
#include <cstdint>

static void mend(int, siginfo_t* info, void*) {
  const auto page = reinterpret_cast<uintptr_t>(info->si_addr) & ~uintptr_t{4095};
  mmap(reinterpret_cast<void*>(page), 4096, PROT_READ | PROT_WRITE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

__global__ void relu(const float* x, float* y, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const volatile float* far_away = x + n + 65536;
  y[i] = (x[i] > 0 ? x[i] : 0) + 0 * far_away[i];
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  struct sigaction mine {};
  mine.sa_sigaction = mend;
  mine.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  for (const int fault : {SIGSEGV, SIGBUS}) sigaction(fault, &mine, nullptr);
  const int64_t n = s.batch_size * s.dim;
  relu<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(x, y, n);
}
