// Blocks, drift and the stopping rule.
#include "judge/timing/speedup_estimate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace kb {
namespace {

TEST(UnitSize, IsSetByTheFasterSide) {
  const UnitSize size{.seconds = 3e-3, .calls = 1};
  EXPECT_EQ(size.calls_per_unit(0.5e-3, 1e-3), 6);
  EXPECT_EQ(size.calls_per_unit(1e-3, 0.5e-3), 6);
  EXPECT_EQ(size.calls_per_unit(4e-3, 5e-3), 1);
}

// 10 us instead of 10 ms: 300 calls would keep the reference busy for 3 s per unit.
TEST(UnitSize, IsShorterWhereTheReferenceIsManyTimesSlower) {
  const UnitSize size{.seconds = 3e-3, .calls = 1};
  EXPECT_EQ(size.calls_per_unit(10e-3, 10e-6), 4);
  EXPECT_EQ(size.calls_per_unit(200e-3, 10e-6), 1);
}

// 50 ms instead of 12 us: 250 calls would run into the time limit of a call.
TEST(UnitSize, IsShorterWhereTheCandidateIsThousandsOfTimesSlower) {
  const UnitSize size{.seconds = 3e-3, .calls = 1};
  EXPECT_EQ(size.calls_per_unit(12e-6, 50e-3), 8);
  EXPECT_EQ(size.calls_per_unit(12e-6, 1), 1);
}

TEST(UnitSize, HasTheCallsThatWereAskedFor) {
  const UnitSize size{.seconds = 0, .calls = 2};
  EXPECT_EQ(size.calls_per_unit(1e-3, 1e-3), 2);
  EXPECT_EQ(size.calls_per_unit(1, 1), 2);
}

// A block of arms that take `a` and `b`, on a machine that slows down by `drift` with every unit.
Abba drifting(double a, double b, double drift, int& unit) {
  const auto next = [&](double seconds) { return seconds * (1 + drift * unit++); };
  Abba block{};
  block.a1 = next(a);
  block.b1 = next(b);
  block.b2 = next(b);
  block.a2 = next(a);
  return block;
}

TEST(Abba, CancelsLinearDrift) {
  int unit = 0;
  EXPECT_NEAR(std::exp(drifting(3e-3, 2e-3, 1e-3, unit).log_ratio()), 1.5, 1e-5);
}

// Adds blocks of two arms alike until there are as many as the estimate wants.
template <class Noise>
int fill(SpeedupEstimate& estimate, const Noise& noise) {
  int count = 0;
  for (; count < estimate.wanted(); ++count) {
    const double b = std::exp(noise());
    estimate.add({1e-3, 1e-3 * b, 1e-3 * b, 1e-3});
  }
  return count;
}

TEST(SpeedupEstimate, APilotWhoseIntervalIsNarrowIsEnough) {
  SpeedupEstimate estimate({.pilot_blocks = 12, .max_blocks = 60});
  EXPECT_EQ(estimate.wanted(), 12);
  EXPECT_EQ(fill(estimate, [] { return 0.0; }), 12);
  EXPECT_EQ(estimate.wanted(), 12);
  EXPECT_DOUBLE_EQ(estimate.speedup(), 1.0);
}

// 8 blocks that scatter by 0.5 %: (3.499 * 0.5 / 0.5)^2 = 12.2.
TEST(SpeedupEstimate, ThePilotSaysHowManyBlocksThereAre) {
  SpeedupEstimate estimate({.pilot_blocks = 8, .half_width = 0.005});
  const double off = 0.005 * std::sqrt(7.0 / 8);
  int i = 0;
  EXPECT_EQ(fill(estimate, [&] { return ++i % 2 == 0 ? off : -off; }), 13);
  for (int more = 0; more < 20; ++more) estimate.add({1, 2 + more, 1, 1});
  EXPECT_EQ(estimate.wanted(), 13) << "later blocks change nothing";
}

TEST(SpeedupEstimate, CountAndTimeHaveLimits) {
  std::mt19937_64 rng(3);
  std::normal_distribution<double> noise(0.0, 0.1);
  SpeedupEstimate by_count({.pilot_blocks = 12, .max_blocks = 60, .max_seconds = 1e9});
  SpeedupEstimate by_time({.pilot_blocks = 12, .max_blocks = 1000, .max_seconds = 0.1});
  EXPECT_EQ(fill(by_count, [&] { return noise(rng); }), 60);
  EXPECT_NEAR(fill(by_time, [&] { return noise(rng); }), 25, 2);
}

TEST(SpeedupEstimate, NoPilotIsCutShort) {
  SpeedupEstimate estimate({});
  for (int i = 0; i < 8; ++i) estimate.add({0.1, 2 + i, 2, 0.1});
  EXPECT_EQ(estimate.wanted(), 8) << "seven blocks have no finite interval";
}

// Noise of 1 % wants some 49 blocks. Stopping where the interval looks narrow by chance would cover
// less than it says.
TEST(SpeedupEstimate, IntervalsCoverWhatTheyShould) {
  std::mt19937_64 rng(5);
  std::normal_distribution<double> noise(0.0, 0.01);
  constexpr int trials = 2000;
  int covered = 0;
  for (int i = 0; i < trials; ++i) {
    SpeedupEstimate estimate(
        {.max_blocks = 1000, .max_seconds = 1e9, .pair_half_width = 0, .pair_seconds = 0});
    fill(estimate, [&] { return noise(rng); });
    covered += estimate.interval().low <= 1 && 1 <= estimate.interval().high;
  }
  EXPECT_GE(covered, 0.984 * trials);
}

TEST(SpeedupEstimate, EstimatesEachArmAsItDoesTheSpeedup) {
  SpeedupEstimate estimate({});
  estimate.add({1, 10, 40, 4});
  EXPECT_DOUBLE_EQ(estimate.reference_seconds(), 2);
  EXPECT_DOUBLE_EQ(estimate.candidate_seconds(), 20);
}

// Seven of sixteen units are slow, so their median is not; the speed-up is that of seven blocks.
TEST(SpeedupEstimate, SeesWhatIsDoneToOneUnitOfMostBlocks) {
  SpeedupEstimate estimate({});
  for (int i = 0; i < 7; ++i) estimate.add({2, 1, 1, 1});
  estimate.add({1, 1, 1, 1});
  EXPECT_DOUBLE_EQ(estimate.speedup(), std::sqrt(2));
  EXPECT_DOUBLE_EQ(estimate.reference_seconds(), std::sqrt(2));
}

TEST(SpeedupEstimate, MoreBlocksTellNothingWhereProcessesDifferMore) {
  SpeedupEstimate noisy({}), calm({});
  for (int i = 0; i < 12; ++i) {
    const double off = (i % 3 - 1) * 0.05;
    noisy.add({1, std::exp(off), std::exp(off), 1});
    calm.add({1, std::exp(off / 100), std::exp(off / 100), 1});
  }
  EXPECT_TRUE(noisy.more_would_tell());
  EXPECT_FALSE(calm.more_would_tell());
}

// A process that adds a few microseconds to each of its units decides short ones, not long ones.
TEST(SpeedupEstimate, ShortUnitsHaveWiderIntervals) {
  const EstimatePolicy policy{.pair_half_width = 0.003, .pair_seconds = 20e-6};
  SpeedupEstimate brief(policy), long_candidate(policy), both_long(policy);
  for (int i = 0; i < 12; ++i) {
    brief.add({1e-3, 1e-3, 1e-3, 1e-3});
    long_candidate.add({1e-3, 1, 1, 1e-3});
    both_long.add({1, 1, 1, 1});
  }
  EXPECT_NEAR(std::log(brief.interval().high), std::hypot(0.003, 0.02, 0.02), 1e-6);
  EXPECT_NEAR(std::log(long_candidate.interval().high / long_candidate.speedup()),
              std::hypot(0.003, 0.02), 1e-4);
  EXPECT_NEAR(std::log(both_long.interval().high), 0.003, 1e-4);
  EXPECT_NEAR(both_long.interval().low * both_long.interval().high, 1, 1e-9);
}

// Seen on four GPUs side by side: the processes of a pair differ more than on other hosts, and show
// it before their units begin.
TEST(SpeedupEstimate, ProcessesThatGetReadyInDifferentTimesHaveWiderIntervals) {
  SpeedupEstimate estimate({.pair_half_width = 0.003, .pair_seconds = 0, .ready_share = 2});
  for (int i = 0; i < 12; ++i) estimate.add({5e-3, 5e-3, 5e-3, 5e-3});
  EXPECT_NEAR(std::log(estimate.interval().high), 0.003, 1e-9);
  for (const double difference : {20e-6, -20e-6}) {
    estimate.set_ready_difference(difference);
    EXPECT_NEAR(std::log(estimate.interval().high), std::hypot(0.003, 0.008), 1e-9);
    EXPECT_NEAR(std::log(estimate.interval().low), -std::hypot(0.003, 0.008), 1e-9);
  }
  SpeedupEstimate faster({.pair_half_width = 0, .pair_seconds = 0, .ready_share = 2});
  for (int i = 0; i < 12; ++i) faster.add({40e-3, 5e-3, 5e-3, 40e-3});
  faster.set_ready_difference(20e-6);
  EXPECT_NEAR(std::log(faster.interval().high), std::log(8) + 0.008, 1e-9) << "in the shorter unit";
}

// Whether the interval lies above or below 1 must not change how many blocks there are.
TEST(SpeedupEstimate, TheVerdictDecidesNothing) {
  const auto blocks = [](double true_log_ratio) {
    std::mt19937_64 rng(11);
    std::normal_distribution<double> noise(true_log_ratio, 0.02);
    SpeedupEstimate estimate({.max_seconds = 1e9});
    return fill(estimate, [&] { return noise(rng); });
  };
  EXPECT_EQ(blocks(0.0), blocks(0.5));
  EXPECT_GT(blocks(0.0), 8);
}

}  // namespace
}  // namespace kb
