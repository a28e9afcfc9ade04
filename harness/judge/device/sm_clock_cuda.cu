// Cycles between two ticks of the device's nanosecond timer, as nvbench's frequency probe counts
// them (nvbench/detail/gpu_frequency.cxx).
#include <cuda_runtime.h>

#include "base/cuda_error.h"
#include "judge/device/sm_clock.h"

namespace kb {
namespace {

constexpr char doing[] = "count the device's clock";
constexpr unsigned long long enough_ns = 60'000;  // the timer ticks once in a microsecond

__device__ unsigned long long nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void count_cycles(double* mhz) {
  const unsigned long long early = nanoseconds();
  unsigned long long start = early;
  while (start == early) start = nanoseconds();
  const long long first = clock64();
  unsigned long long end = start;
  while (end - start < enough_ns) end = nanoseconds();
  *mhz = 1e3 * static_cast<double>(clock64() - first) / static_cast<double>(end - start);
}

double* allocate() {
  double* mhz = nullptr;
  check(cudaMallocHost(reinterpret_cast<void**>(&mhz), sizeof *mhz), doing);
  return mhz;
}

}  // namespace

std::optional<double> sm_clock_mhz() {
  static double* const mhz = allocate();  // for the life of the process
  count_cycles<<<1, 1>>>(mhz);
  check(cudaGetLastError(), doing);
  check(cudaStreamSynchronize(nullptr), doing);
  return *mhz;
}

}  // namespace kb
