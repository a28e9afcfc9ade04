// Waiting, and what it tells of the core.
#include "sandbox/protocol/futex.h"

#include <gtest/gtest.h>

#include <thread>

namespace kb::protocol {
namespace {

using namespace std::chrono_literals;

TEST(WaitChange, EndsWithTheChangeOrTheTimeout) {
  std::atomic<uint32_t> value{7};
  EXPECT_EQ(wait_change(value, 6, 1h), 7u);
  EXPECT_EQ(wait_change(value, 7, 1ms), 7u);
  std::thread other([&] { publish(value, 8); });
  EXPECT_EQ(wait_change(value, 7, 1h), 8u);
  other.join();
}

TEST(Polling, IsWhatThisThreadHasWaited) {
  const Polling before = polling();
  const std::atomic<uint32_t> value{0};
  wait_change(value, 0, 1ms);
  EXPECT_GT(polling().time, before.time);
  const double stalled = polling().stalled_since(before);
  EXPECT_GE(stalled, 0);
  EXPECT_LE(stalled, 1);
  std::thread([&] { EXPECT_EQ(polling().time, 0ns); }).join();
}

TEST(Polling, StallsAreAShareOfTheWaitingSinceAnEarlierReading) {
  const Polling earlier{.time = 50ms, .stalled = 10ms}, later{.time = 150ms, .stalled = 15ms};
  EXPECT_DOUBLE_EQ(later.stalled_since(earlier), 0.05);
  EXPECT_EQ(later.stalled_since(later), 0);
}

}  // namespace
}  // namespace kb::protocol
