// What the environment says about the device counts as it was when the program began, and no code
// of the program's sees it. Started with KB_CPU_STRICT=1.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

__attribute__((constructor)) static void change() { setenv("KB_CPU_STRICT", "0", 1); }

__global__ void diverge(int* x) {
  if (threadIdx.x == 0)
    __syncthreads();
  else
    __syncthreads();
  *x = 1;
}

static bool seen() {
  const int fd = open("/proc/self/environ", O_RDONLY);
  std::string text(1 << 20, '\0');
  const ssize_t size = read(fd, text.data(), text.size());
  close(fd);
  return size <= 0 || text.find("KB_CPU_STRICT=1") != std::string::npos;
}

int main() {
  if (seen()) return std::puts("the environment of the process still shows the settings"), 1;
  int* x = nullptr;
  cudaMalloc(&x, sizeof *x);
  diverge<<<1, 2>>>(x);
  if (cudaDeviceSynchronize() == cudaSuccess) return std::puts("a later setting counts"), 1;
  return 0;
}
