// A chain: the blocks of one lane on one pair of processes, and all that they have shown.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>

#include "base/result/files.h"
#include "judge/bench/duel.h"
#include "judge/session/baseline.h"
#include "judge/timing/anomalies.h"
#include "judge/timing/speedup_estimate.h"
#include "judge/timing/suspicions.h"

namespace kb {

/// Confidence of every interval that a bench publishes.
inline constexpr double bench_confidence = 0.99;

/// The share of the judge's waiting in which its core did something else. Runners' cores are
/// treated alike, and units last milliseconds.
constexpr bool is_stalled(double share) { return share > 0.01; }

/// How many blocks a chain on the pair of this number needs: 1 is the first, and most come from it.
EstimatePolicy estimate_policy(int pair);
/// How long a unit is.
UnitSize unit_size();

/// The device while a chain's blocks were timed.
struct DeviceFacts {
  Json before, after;  ///< gpu_state()
  /// Median clock after units of reference and candidate, in MHz; none without a GPU.
  std::array<std::optional<double>, 2> mhz;
  double stalled = 0;  ///< see is_stalled()
};

struct Chain {
  std::string lane;
  int pair = 1;                   ///< the number of its pair of processes
  std::filesystem::path package;  ///< of AOTInductor, for the lane `aoti`

  SpeedupEstimate estimate{estimate_policy(pair)};
  UnitTimes times;
  ArmTimes alone;                   ///< the reference when the candidate's process has ended
  std::optional<ArmTimes> control;  ///< the reference while a control lives, if it was asked
  Presence presence;                ///< of this attempt and those before
  Anomalies anomalies;              ///< of the blocks that count
  Json redone = Json::array();      ///< anomalies of attempts that were thrown away
  bool second_look = false;         ///< undecided at first, and measured anew for longer
  DeviceFacts device;
  std::optional<Suspicion> suspicion;

  LaunchMode mode() const { return lane == "eager" ? LaunchMode::stream : LaunchMode::graph; }
  Baseline baseline() const { return {.lane = lane, .package = package}; }
  /// Whether it starts processes of its own instead of taking over those of the chain before.
  bool own_pair() const { return mode() == LaunchMode::stream || baseline().special(); }
  /// "eager", "eager/pair:2"
  std::string name() const { return lane + (pair == 1 ? "" : "/pair:" + std::to_string(pair)); }
  /// Seconds of a call that takes its share of so many seconds of a unit.
  double call(double unit_seconds) const { return unit_seconds / static_cast<double>(times.calls); }
  /// Forgets everything but why earlier attempts were thrown away, and `presence`.
  void start_again(const std::string& why);
};

class Benchmarks;

/// Blocks until the chain has enough. What looks disturbed is done again, three times at most, and
/// what was thrown away is on record. An anomaly that comes again is the kernel's or the machine's.
/// @param last anomalies of the lane's last blocks, on other processes perhaps
void run_blocks(Chain& chain, Duel& duel, Benchmarks& benchmarks, Anomalies& last);

/// What was left UNDECIDED gets a second look from nothing: three times the blocks and the time,
/// unless more blocks would not tell more.
void look_longer(Chain& chain, Duel& duel, Benchmarks& benchmarks, Anomalies& last);

/// What the units of a chain have shown. @param least seconds below which no unit can be
UnitTimes unit_times(const Chain& chain, const Duel& duel, double least);

}  // namespace kb
