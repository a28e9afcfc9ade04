// The order in which reference and candidate are timed, and when to stop.
#pragma once

#include <functional>
#include <vector>

#include "timing/statistics.h"

namespace kb {

/// One ABBA block: seconds of each unit, A the reference, B the candidate.
struct Block {
  double a1, b1, b2, a2;

  /// ln(A/B) of the block: linear drift cancels.
  double log_ratio() const;
};

struct PairingPolicy {
  int min_blocks = 8;  ///< with fewer no 99 % interval is finite
  int max_blocks = 60;
  double max_seconds = 2.0;   ///< of measured time
  double half_width = 0.005;  ///< of the interval of ln(A/B)
  double confidence = 0.99;
  /// What differs between pairs of processes timing the same two kernels and cannot be seen within
  /// one pair, such as where their tensors lie in memory: 2.6 standard deviations of estimates on
  /// one H200 (reports/hardware/h200/timer/repeat.jsonl).
  double pair_half_width = 0.007;
};

/// Collects blocks and says when there are enough. It looks at the interval's width only, never at
/// which side of 1 it lies: stopping on the verdict would multiply false wins.
class Pairing {
 public:
  explicit Pairing(PairingPolicy policy) : policy_(policy) {}

  void add(const Block& block);
  bool converged() const;

  const std::vector<Block>& blocks() const { return blocks_; }
  /// Median seconds of a unit of each arm.
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
  PairingPolicy policy_;
  std::vector<Block> blocks_;
  double seconds_ = 0;
};

}  // namespace kb
