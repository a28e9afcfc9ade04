// Flags on chains with planted trouble, and their silence on honest noise.
#include "judge/timing/anomalies.h"

#include <gtest/gtest.h>

#include <random>

namespace kb {
namespace {

std::vector<double> noise(int count, double deviation, unsigned seed) {
  std::mt19937_64 rng(seed);
  std::normal_distribution<double> normal(0, deviation);
  std::vector<double> out;
  for (int i = 0; i < count; ++i) out.push_back(normal(rng));
  return out;
}

TEST(Anomalies, ComeBackOneByOne) {
  EXPECT_FALSE(show_again({}, {"throttle"}));
  EXPECT_FALSE(show_again({"drift"}, {}));
  EXPECT_FALSE(show_again({"drift"}, {"throttle"}));
  EXPECT_TRUE(show_again({"drift", "throttle"}, {"bimodal", "throttle"}));
}

TEST(Anomalies, ThePowerLimitIsPartOfLongUnits) {
  EXPECT_TRUE(is_power_of_long_units({"throttle"}, 0.2));
  EXPECT_FALSE(is_power_of_long_units({"throttle"}, 0.05));
  EXPECT_FALSE(is_power_of_long_units({"throttle", "clock_skew"}, 0.2));
  EXPECT_FALSE(is_power_of_long_units({}, 0.2));
}

TEST(Drift, IsSeenWhereTheRatioMoves) {
  std::vector<double> logs = noise(12, 0.002, 1);
  for (size_t i = 0; i < logs.size(); ++i) logs[i] += 0.003 * static_cast<double>(i);
  EXPECT_TRUE(drifts(logs));
}

TEST(Drift, IsRarelySeenInNoise) {
  constexpr int chains = 4000;
  for (const int blocks : {6, 8, 12, 60}) {
    int alarms = 0;
    for (int i = 0; i < chains; ++i) alarms += drifts(noise(blocks, 0.01, 100 + i));
    EXPECT_LE(alarms, 12) << blocks << " blocks";  // 4 expected
  }
}

TEST(Clocks, DropWhereSomeUnitsRanSlower) {
  std::vector<double> mhz(20, 1980);
  EXPECT_FALSE(clock_drops(mhz));
  mhz[3] = 1000;  // one sample is none of it
  EXPECT_FALSE(clock_drops(mhz));
  mhz[4] = mhz[5] = 1700;
  EXPECT_TRUE(clock_drops(mhz));
  EXPECT_FALSE(clock_drops({1980, 1000})) << "too few to tell";
}

TEST(Clocks, DecideWhereCyclesSayTheOpposite) {
  EXPECT_FALSE(clocks_decide(1.02, {1.01, 1.03}, 1980, 1980));
  EXPECT_FALSE(clocks_decide(1.02, {1.01, 1.03}, 1980, 1960)) << "the candidate's clock was lower";
  EXPECT_TRUE(clocks_decide(1.02, {1.01, 1.03}, 1900, 1980)) << "the reference's was";
  EXPECT_TRUE(clocks_decide(0.98, {0.97, 0.99}, 1980, 1900));
  EXPECT_FALSE(clocks_decide(1.02, {0.99, 1.05}, 1900, 1980)) << "nothing is decided";
}

TEST(ReferenceLag, IsWhatTheSecondReferenceUnitTakesMore) {
  std::vector<Abba> blocks(12, Abba{.a1 = 2, .b1 = 1, .b2 = 1, .a2 = 2});
  EXPECT_DOUBLE_EQ(reference_lag(blocks), 1);
  blocks[0].a2 = 100;  // an outlier is none of it
  EXPECT_DOUBLE_EQ(reference_lag(blocks), 1);
  for (Abba& block : blocks) block.a2 = 3;
  EXPECT_DOUBLE_EQ(reference_lag(blocks), 1.5);
}

TEST(Scatter, IsSeenInTwoModesAndNotInAFewOutliers) {
  std::vector<double> logs = noise(20, 0.002, 2);
  EXPECT_FALSE(scatters(logs));
  logs[3] += 0.5;
  EXPECT_FALSE(scatters(logs));
  for (size_t i = 0; i < logs.size(); i += 2) logs[i] += 0.05;
  EXPECT_TRUE(scatters(logs));
}

TEST(Flags, NeedAFewBlocks) {
  EXPECT_FALSE(drifts({0.1, 0.2}));
  EXPECT_FALSE(scatters({0.1, 0.9}));
}

}  // namespace
}  // namespace kb
