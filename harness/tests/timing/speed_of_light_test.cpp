// Bounds of time from work and peaks.
#include "judge/timing/speed_of_light.h"

#include <gtest/gtest.h>

namespace kb {
namespace {

const Peaks peaks{.bytes_per_second = 1e12,
                  .flops_per_second = 1e13,
                  .tf32_flops_per_second = 1e14,
                  .bf16_flops_per_second = 2e14,
                  .limit_bytes_per_second = 2e12,
                  .limit_flops_per_second = 1e15,
                  .l2_bytes = 1e6};

TEST(SpeedOfLight, TheLaterOfMemoryAndArithmeticBinds) {
  const Floor memory = floor_of({.bytes = 1e9, .flops = 1e9}, peaks);
  EXPECT_DOUBLE_EQ(memory.seconds, 1e-3);
  EXPECT_EQ(memory.bound, "memory");
  const Floor compute = floor_of({.bytes = 1e9, .flops = 1e11}, peaks);
  EXPECT_DOUBLE_EQ(compute.seconds, 1e-2);
  EXPECT_EQ(compute.bound, "compute");
}

TEST(SpeedOfLight, ProductsThatMayBeRoundedAreHeldAgainstTf32) {
  EXPECT_DOUBLE_EQ(floor_of({.flops = 1e12, .tf32 = true}, peaks).seconds, 1e-2);
  EXPECT_DOUBLE_EQ(floor_of({.flops = 1e12, .half = true}, peaks).seconds, 5e-3);
}

TEST(SpeedOfLight, TheHardFloorCreditsWhatTheL2Holds) {
  EXPECT_DOUBLE_EQ(hard_floor({.bytes = 1e6}, 2, peaks), 0);
  EXPECT_DOUBLE_EQ(hard_floor({.bytes = 1e9}, 2, peaks), (2e9 - 2e6) / 2e12);
  EXPECT_DOUBLE_EQ(hard_floor({.bytes = 0, .flops = 1e12}, 3, peaks), 3e-3);
}

TEST(SpeedOfLight, WeightsMayStayInTheL2FromCallToCall) {
  EXPECT_DOUBLE_EQ(hard_floor({.bytes = 1e7, .weight_bytes = 1e6}, 10, peaks),
                   (10 * 9e6 + 5e5 - 2e6) / 2e12);
  EXPECT_DOUBLE_EQ(hard_floor({.bytes = 1e9, .weight_bytes = 1e9}, 2, peaks),
                   (2 * (5e8 - 2e6)) / 2e12)
      << "only as much as the L2 holds, of half of the bits";
}

TEST(SpeedOfLight, AMarkTakesMoreThanHalfOfAnything) {
  EXPECT_FALSE(WeightsAlone{}.most());
  EXPECT_FALSE((WeightsAlone{.flops = 0.5, .bytes = 0.5, .operator_bytes = 0.5}.most()));
  EXPECT_TRUE(WeightsAlone{.flops = 0.51}.most());
  EXPECT_TRUE(WeightsAlone{.bytes = 0.51}.most());
  EXPECT_TRUE(WeightsAlone{.operator_bytes = 0.51}.most());
}

}  // namespace
}  // namespace kb
