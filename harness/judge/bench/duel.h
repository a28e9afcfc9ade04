// Reference and candidate taking turns under the judge's clock, every timed output checked.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "judge/bench/arm.h"
#include "judge/bench/plan.h"
#include "judge/bench/timed_calls.h"
#include "judge/session/runner_session.h"
#include "judge/timing/speedup_estimate.h"
#include "judge/timing/suspicions.h"

namespace kb {

class Duel {
 public:
  /// Starts from two runners that may still be starting. Nobody is told before which slot a unit
  /// leaves out.
  /// @param size of units, as far as memory allows
  /// @param calls per unit, if an earlier duel with this plan has found them out
  /// @throws Decided
  Duel(const TimedTask& timed, DuelPlan plan, RunnerSession& reference, RunnerSession& candidate,
       UnitSize size, std::optional<int64_t> calls);

  /// Selects the launch mode for both arms and measures what an empty unit costs each.
  /// @return "", or why one of the arms cannot be captured
  std::string select(LaunchMode mode);
  /// One ABBA block, with new inputs in each unit; the candidate's outputs are checked before the
  /// next one. Now and then units that are not timed come between: a few calls, to see that each
  /// does its own work and no other's, and inputs that change at the last moment. @throws Decided
  Abba block();
  /// Forgets what units have shown: from here on blocks may count.
  void restart_samples();
  /// Median seconds of a call that is alone in its unit. Calls that share their work behind the
  /// judge's back lose that here. Comes after blocks, and ends the chain: select() comes next.
  /// @throws Decided
  double single_call();

  /// Medians of the reference's units when the candidate's process has ended, in a mode that has
  /// been selected before. Ends the chain; graphs come before streams, and leave their memory to
  /// them.
  ArmTimes reference_alone(LaunchMode mode, int samples);
  /// The reference's lone call after reference_alone() on the stream, where it pays for its
  /// launches.
  double reference_single_call();

  /// What the candidate's prepare() took the first time; none where it has none.
  const std::optional<Preparing>& preparing() const { return calls_.preparing(); }

  int64_t calls_per_unit() const { return calls_.per_unit(); }
  /// Gives units as many calls as their size asks for, if that is more than `times` what they have:
  /// a candidate that is slow only as long as this is found out would have its units short. Ends
  /// the chain. @param reference, candidate seconds of a call @return whether it did
  bool fit_calls(const UnitSize& size, double reference, double candidate, int64_t times);

  /// What the arms' units have shown since restart_samples(), and what was taken off each of them.
  const Arm& reference() const { return reference_; }
  const Arm& candidate() const { return candidate_; }

 private:
  void find_calls(const UnitSize& size);
  SlotRange random_range(int64_t count);
  SlotRange next_range();
  void capture_elsewhere();
  double timed_unit(Arm& arm, std::vector<double>& ready, SlotRange range);
  double reference_unit(std::vector<double>& ready);
  double candidate_unit();
  void reveal_inputs_late(SlotRange range);
  void after_unit(Arm& arm);
  void verify(SlotRange called);
  void warm_up();
  void check_parts_alone();

  Phases& phases_;
  Arm reference_, candidate_;
  TimedCalls calls_;
  std::mt19937_64 choices_;  ///< which slots are called, and when parts of units are checked
  int blocks_ = 0;           ///< of this chain
  SlotRange captured_;       ///< the timed unit, where it is a graph
  bool parts_checked_ = false, inputs_came_late_ = false;  ///< in this chain
};

}  // namespace kb
