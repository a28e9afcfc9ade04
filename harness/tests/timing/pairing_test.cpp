// Blocks, drift and the stopping rule.
#include "timing/pairing.h"

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
Block drifting(double a, double b, double drift, int& unit) {
  const auto next = [&](double seconds) { return seconds * (1 + drift * unit++); };
  Block block{};
  block.a1 = next(a);
  block.b1 = next(b);
  block.b2 = next(b);
  block.a2 = next(a);
  return block;
}

TEST(Block, CancelsLinearDrift) {
  int unit = 0;
  EXPECT_NEAR(std::exp(drifting(3e-3, 2e-3, 1e-3, unit).log_ratio()), 1.5, 1e-5);
}

TEST(Pairing, StopsWhenTheIntervalIsNarrow) {
  Pairing pairing({.min_blocks = 12, .max_blocks = 60});
  int unit = 0;
  for (int i = 0; i < 11; ++i) pairing.add(drifting(1e-3, 1e-3, 0, unit));
  EXPECT_FALSE(pairing.converged()) << "before min_blocks";
  pairing.add(drifting(1e-3, 1e-3, 0, unit));
  EXPECT_TRUE(pairing.converged());
  EXPECT_DOUBLE_EQ(pairing.speedup(), 1.0);
}

TEST(Pairing, GoesOnWhileTheIntervalIsWideAndStopsAtTheLimits) {
  std::mt19937_64 rng(3);
  std::normal_distribution<double> noise(1.0, 0.1);
  Pairing by_count({.min_blocks = 12, .max_blocks = 60, .max_seconds = 1e9});
  Pairing by_time({.min_blocks = 12, .max_blocks = 1000, .max_seconds = 0.1});
  int counted = 0, timed = 0;
  while (!by_count.converged()) by_count.add({noise(rng), 1, 1, noise(rng)}), ++counted;
  while (!by_time.converged()) by_time.add({1e-3 * noise(rng), 1e-3, 1e-3, 1e-3}), ++timed;
  EXPECT_EQ(counted, 60);
  EXPECT_NEAR(timed, 25, 2);
}

TEST(Pairing, AsksForFewerBlocksWhereEachIsLong) {
  Pairing pairing({});
  for (int i = 0; i < 7; ++i) pairing.add({0.1, 2, 2, 0.1});
  EXPECT_FALSE(pairing.converged()) << "seven blocks have no finite interval";
  pairing.add({0.1, 2, 2, 0.1});
  EXPECT_TRUE(pairing.converged());
}

TEST(Pairing, EstimatesEachArmAsItDoesTheSpeedup) {
  Pairing pairing({});
  pairing.add({1, 10, 40, 4});
  EXPECT_DOUBLE_EQ(pairing.reference_seconds(), 2);
  EXPECT_DOUBLE_EQ(pairing.candidate_seconds(), 20);
}

// Seven of sixteen units are slow, so their median is not; the speed-up is that of seven blocks.
TEST(Pairing, SeesWhatIsDoneToOneUnitOfMostBlocks) {
  Pairing pairing({});
  for (int i = 0; i < 7; ++i) pairing.add({2, 1, 1, 1});
  pairing.add({1, 1, 1, 1});
  EXPECT_DOUBLE_EQ(pairing.speedup(), std::sqrt(2));
  EXPECT_DOUBLE_EQ(pairing.reference_seconds(), std::sqrt(2));
}

TEST(Pairing, MoreBlocksTellNothingWhereProcessesDifferMore) {
  Pairing noisy({}), calm({});
  for (int i = 0; i < 12; ++i) {
    const double off = (i % 3 - 1) * 0.05;
    noisy.add({1, std::exp(off), std::exp(off), 1});
    calm.add({1, std::exp(off / 100), std::exp(off / 100), 1});
  }
  EXPECT_TRUE(noisy.more_would_tell());
  EXPECT_FALSE(calm.more_would_tell());
}

// A process that adds a few microseconds to each of its units decides short ones, not long ones.
TEST(Pairing, ShortUnitsHaveWiderIntervals) {
  const PairingPolicy policy{.pair_half_width = 0.003, .pair_seconds = 20e-6};
  Pairing brief(policy), long_candidate(policy), both_long(policy);
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

// Whether the interval lies above or below 1 must not change when it stops.
TEST(Pairing, DoesNotStopOnTheVerdict) {
  std::mt19937_64 rng(11);
  std::normal_distribution<double> noise(0.0, 0.02);
  std::vector<double> logs;
  for (int i = 0; i < 60; ++i) logs.push_back(noise(rng));
  const auto blocks_until_done = [&](double true_log_ratio) {
    Pairing pairing({.max_seconds = 1e9});
    for (double log : logs) {
      if (pairing.converged()) break;
      const double b = std::exp(-(log + true_log_ratio));
      pairing.add({1, b, b, 1});
    }
    return pairing.blocks().size();
  };
  EXPECT_EQ(blocks_until_done(0.0), blocks_until_done(0.5));
}

}  // namespace
}  // namespace kb
