// What a unit leaves of its wishes to the cache, seen from the next.
#include "sandbox/protocol/unit_clock.h"

#include <gtest/gtest.h>

namespace kb::protocol {
namespace {

size_t limit(cudaLimit which) {
  size_t value = 0;
  check_cuda(cudaDeviceGetLimit(&value, which), "reading a limit");
  return value;
}

TEST(UnitClock, TheCacheForgetsWhatItWasAskedBefore) {
  UnitClock clock;
  const size_t before = limit(cudaLimitMaxL2FetchGranularity);
  check_cuda(cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, 32), "setting a limit");
  cudaStream_t stream = nullptr;
  check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
  clock.warm_up(stream);
  EXPECT_EQ(limit(cudaLimitMaxL2FetchGranularity), before);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  cudaStreamDestroy(stream);
}

}  // namespace
}  // namespace kb::protocol
