// Reference and candidate taking turns under the judge's clock, every timed output checked.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "judge/compare.h"
#include "judge/runner_session.h"
#include "judge/slicing.h"
#include "judge/workload.h"
#include "timing/pairing.h"
#include "timing/phases.h"
#include "timing/suspicions.h"

namespace kb {

/// How the calls of a unit are launched: one by one on the stream, or as one recorded graph.
enum class LaunchMode { stream, graph };

/// What all duels of a candidate have in common.
struct DuelPlan {
  OraclePlan oracle;                  ///< where memory is short
  int64_t memory_bytes = 0;           ///< of the device, free before anything untrusted was loaded
  std::vector<Tolerance> tolerances;  ///< per output
  /// A runner of our own that computes nothing has the candidate's place: nobody looks at outputs.
  bool control = false;
};

class Duel {
 public:
  /// Starts from two runners that may still be starting. Each call of a unit has a slot of its own:
  /// own inputs, own poisoned output, so that nothing is found in a cache by repetition. Where
  /// memory allows there is one slot more than calls, and nobody is told before which one is left
  /// out.
  /// @param size of units, as far as memory allows
  /// @param calls per unit, if an earlier duel with this plan has found them out
  /// @throws Decided
  Duel(const Task& task, const SizeBytes& sizes, DuelPlan plan, InputKind inputs, uint64_t rng_seed,
       SharedMemory& memory, RunnerSession& reference, RunnerSession& candidate, UnitSize size,
       std::optional<int64_t> calls, Phases& phases);

  /// Selects the launch mode for both arms and measures what an empty unit costs each.
  /// @return "", or why one of the arms cannot be recorded
  std::string select(LaunchMode mode);
  /// One ABBA block, with new inputs in each unit; the candidate's outputs are checked before the
  /// next one. Now and then units that are not timed come between: a few calls, to see that each
  /// does its own work and no other's, and inputs that change at the last moment. @throws Decided
  Block block();
  /// Forgets what the runners' own clocks said: from here on it is of blocks that may count.
  void restart_clocks();
  /// Median seconds of a call that is alone in its unit. Calls that share their work behind the
  /// judge's back lose that here. Comes after blocks, and ends the chain: select() comes next.
  /// @throws Decided
  double single_call();

  /// What the reference takes beside the candidate, since restart_clocks(), and its empty unit.
  /// @param unit as the blocks have it
  ReferenceTimes reference_beside(double unit) const;
  /// Medians of the same when the candidate's process has ended, in a mode that has been selected
  /// before. Ends the chain; graphs come before streams, and leave their memory to them.
  ReferenceTimes reference_alone(LaunchMode mode, int samples);
  /// The reference's lone call after reference_alone() on the stream, where it pays for its
  /// launches.
  double reference_single_call();

  int64_t calls_per_unit() const { return calls_; }
  /// Gives units as many calls as their size asks for, if that is more than `times` what they have:
  /// a candidate that is slow only as long as this is found out would have its units short. Ends
  /// the chain. @param reference, candidate seconds of a call @return whether it did
  bool fit_calls(const UnitSize& size, double reference, double candidate, int64_t times);
  /// Seconds that an empty unit took, and that block() has taken off: reference, candidate.
  double empty_reference() const { return empty_reference_[index(mode_)]; }
  double empty_candidate() const { return empty_candidate_; }
  /// Since restart_clocks(), each estimated as the speed-up is: what moves the one moves the other.
  /// Units by the clocks of the runners themselves, in seconds: on the stream, and for the
  /// candidate on the device after the stream that launch() was given was done.
  double reference_stream_seconds() const { return hodges_lehmann(stream_seconds_[0]); }
  double stream_seconds() const { return hodges_lehmann(stream_seconds_[1]); }
  double beside_seconds() const { return hodges_lehmann(beside_seconds_); }
  /// How long the reference took to get ready for its units before and after the candidate's: what
  /// is left on the device holds it up. And the candidate, which has nothing to do yet.
  double ready_before_seconds() const { return hodges_lehmann(ready_.before); }
  double ready_after_seconds() const { return hodges_lehmann(ready_.after); }
  double ready_candidate_seconds() const { return hodges_lehmann(ready_.candidate); }
  /// How long it took to bring the inputs of a unit to where the runners see them.
  double publishing_reference_seconds() const { return hodges_lehmann(publishing_seconds_[0]); }
  double publishing_candidate_seconds() const { return hodges_lehmann(publishing_seconds_[1]); }
  /// The device's clock in MHz right after units of the reference and of the candidate; empty
  /// without a GPU.
  const std::array<std::vector<double>, 2>& clocks() const { return clocks_; }
  /// How long reading some outputs and the kernel that counts it took there, with the wait for
  /// them: they share the device with what the runner has left.
  double probe_reference_seconds() const { return hodges_lehmann(probe_seconds_[0]); }
  double probe_candidate_seconds() const { return hodges_lehmann(probe_seconds_[1]); }

 private:
  /// Neighbouring slots that a unit calls.
  struct Range {
    int64_t first, count;
    bool contains(int64_t slot) const { return slot >= first && slot < first + count; }
  };

  static size_t index(LaunchMode mode) { return static_cast<size_t>(mode); }
  size_t arm(const RunnerSession& runner) const { return &runner == &candidate_ ? 1 : 0; }
  void find_calls(const UnitSize& size);
  void allocate(int64_t calls);
  void bind();
  Range random_range(int64_t count);
  std::string record(RunnerSession& runner, Range range) const;
  void record_again(RunnerSession& runner, Range range);
  void record_elsewhere();
  double unit(RunnerSession& runner, Range range);
  double net_unit(RunnerSession& runner, Range range, double empty);
  void get_ready(RunnerSession& runner, const std::function<void()>& meanwhile = {});
  double go(RunnerSession& runner, Range range);
  double timed_unit(RunnerSession& runner, double empty, std::vector<double>& ready, Range range);
  double reference_unit(std::vector<double>& ready);
  double candidate_unit();
  void late_inputs(Range range);
  void after_unit(const RunnerSession& runner);
  void check_unchanged() const;
  double empty_unit(RunnerSession& runner);
  void warm_up();
  void audit();
  Range next_range();
  void draw(Range called);
  void expect(Range called);
  double publish(Range called);
  double renew(Range called);
  void verify(Range called);
  void verify_call(int64_t slot);
  void verify_output(int64_t slot, size_t output, const at::Tensor& got);

  const Task& task_;
  SizeBytes sizes_;
  DuelPlan plan_;
  InputKind inputs_;
  at::Generator rng_;        ///< of inputs, on the device
  std::mt19937_64 choices_;  ///< which slots are called
  SharedMemory& memory_;
  RunnerSession& reference_;
  RunnerSession& candidate_;
  Phases& phases_;
  int64_t most_slots_ = 1;  ///< that memory allows
  int blocks_ = 0;          ///< of this chain
  LaunchMode mode_ = LaunchMode::stream;
  std::array<double, 2> empty_reference_{};  ///< by launch mode
  double empty_candidate_ = 0;
  std::array<std::vector<double>, 2> stream_seconds_;  ///< of reference and candidate
  std::vector<double> beside_seconds_;
  std::array<std::vector<double>, 2> clocks_, probe_seconds_;  ///< of reference and candidate
  double last_ready_seconds_ = 0;
  protocol::Answer last_answer_{};
  struct {
    std::vector<double> before, after, candidate;
  } ready_;  ///< seconds: the reference before and after the candidate's units, the candidate
  std::array<std::vector<double>, 2> publishing_seconds_;  ///< before units of each
  std::unique_ptr<Workload> work_;
  int64_t calls_ = 1;                         ///< per timed unit
  Range recorded_{};                          ///< the timed unit, where it is a graph
  bool audited_ = false, surprised_ = false;  ///< in this chain
  std::vector<at::Tensor> places_, left_;     ///< in the unit's outputs, and what it left there
  std::vector<std::vector<at::Tensor>> expected_;  ///< [slot][output], by the library
};

}  // namespace kb
