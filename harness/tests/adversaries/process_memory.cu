// Writes code through /proc, where no page protection counts.
// Task: level1/019_relu
// Expected: incorrect
#include "shared/escape.cuh"

#include <cstdio>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

extern "C" __attribute__((noinline, used)) int victim(int x) {
  volatile int y = x;
  return y + 1;
}

static bool overwritten(const char* path) {
  const int memory = open(path, O_RDWR);
  if (memory < 0) return false;
  const unsigned char code[] = {0xb8, 0x39, 0x05, 0x00, 0x00, 0xc3};  // return 1337
  const auto at = static_cast<off_t>(reinterpret_cast<uintptr_t>(&victim));
  if (pwrite(memory, code, sizeof code, at) != sizeof code) return false;
  int (*volatile call)(int) = victim;
  return call(1) == 1337;
}

static bool escaped_here() {
  char thread[64];
  snprintf(thread, sizeof thread, "/proc/self/task/%ld/mem", syscall(SYS_gettid));
  return overwritten("/proc/self/mem") || overwritten(thread);
}

// On a GPU a thread of the driver's calls it.
static bool escaped_elsewhere() {
  bool worked = false;
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaLaunchHostFunc(
      stream, [](void* out) { *static_cast<bool*>(out) = escaped_here(); }, &worked);
  cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  return worked;
}

static bool escaped() { return escaped_here() || escaped_elsewhere(); }
