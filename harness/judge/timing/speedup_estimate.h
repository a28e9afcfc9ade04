// How long the units of reference and candidate are, the order in which they are timed, and when to
// stop.
#pragma once

#include <cstdint>
#include <vector>

#include "judge/timing/statistics.h"

namespace kb {

/// The length of a unit, which calls both sides equally often.
struct UnitSize {
  double seconds;  ///< the faster side goes on calling for so long
  int64_t calls;   ///< at least
  /// The reference makes no further call after so long. This ends the unit sooner for a kernel that
  /// is many times faster: a shorter unit shows that as well, and the judge has to compute the
  /// right outputs of each call with the reference.
  double reference_seconds = 40e-3;

  /// The candidate makes no further call after so long. A single call shows that a candidate is
  /// thousands of times slower, and a slow unit must not exceed a call's time limit.
  double candidate_seconds = 0.4;

  /// @param reference, candidate seconds of a call
  int64_t calls_per_unit(double reference, double candidate) const;
};

/// One ABBA block: seconds of each unit, A the reference, B the candidate.
struct Abba {
  double a1, b1, b2, a2;

  /// ln(A/B) of the block: linear drift cancels.
  double log_ratio() const;
};

struct EstimatePolicy {
  int pilot_blocks = 8;  ///< with fewer no 99 % interval is finite
  int max_blocks = 60;
  double max_seconds = 2.0;   ///< of measured time
  double half_width = 0.005;  ///< of the interval of ln(A/B)
  double confidence = 0.99;
  /// What differs between pairs of processes timing the same two kernels and cannot be seen within
  /// one pair, 2.0 to 3.5 standard deviations of it: a share of the time, such as where tensors lie
  /// in memory, and seconds that one process adds to each of its units on the way between device
  /// and judge. From identical code on several H200s (reports/hardware/h200/README.md).
  double pair_half_width = 0.002;
  double pair_seconds = 16e-6;
  /// A process that takes longer to get ready for its units takes longer in them, by 0.4 to 1.2
  /// times as much in the mean (the same records). Where the two processes of a pair differ in
  /// that, so much of it may be in the shorter of their units.
  double ready_share = 2;
};

/// Collects blocks and says how many there should be, in two stages (Stein, Annals of Mathematical
/// Statistics 16, 1945): how far the blocks of a pilot scatter decides how many are enough for the
/// interval's width, once and for all. Looking again and again would stop where an interval is
/// narrow by chance; stopping on the verdict would multiply false wins.
class SpeedupEstimate {
 public:
  explicit SpeedupEstimate(EstimatePolicy policy) : policy_(policy), wanted_(policy.pilot_blocks) {}

  void add(const Abba& block);
  /// By how many seconds one process took longer than the other to get ready for its units.
  void set_ready_difference(double seconds) { ready_difference_ = seconds; }
  /// How many blocks it takes, those that are there included: the pilot's until it is complete.
  int wanted() const { return wanted_; }

  const std::vector<Abba>& blocks() const { return blocks_; }
  /// Seconds of a unit of each arm, estimated as the speed-up is.
  double reference_seconds() const;
  double candidate_seconds() const;
  /// Hodges-Lehmann estimate of the speed-up A/B, and its interval: the blocks' own, widened by
  /// what differs between pairs of processes.
  double speedup() const;
  Interval interval() const;
  /// Whether noise of the blocks is the larger part of the interval, so that more of them help.
  bool more_would_tell() const;
  double confidence() const { return policy_.confidence; }
  std::vector<double> log_ratios() const;

 private:
  Interval within() const;       ///< of the log-ratios, as the blocks tell it
  double between_pairs() const;  ///< half-width of what they cannot tell
  int enough() const;            ///< by the pilot's blocks

  EstimatePolicy policy_;
  std::vector<Abba> blocks_;
  double ready_difference_ = 0;
  int wanted_;
};

}  // namespace kb
