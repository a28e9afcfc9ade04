// Reference and candidate taking turns under the judge's clock, every timed output checked.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "judge/compare.h"
#include "judge/runner_session.h"
#include "judge/work_count.h"
#include "judge/workload.h"
#include "timing/pairing.h"

namespace kb {

/// How the calls of a unit are launched: one by one on the stream, or as one recorded graph.
enum class LaunchMode { stream, graph };

class Duel {
 public:
  /// Starts from two idle runners. A unit is as many calls as take `unit_seconds`, each on a slot
  /// of its own: own inputs, own poisoned output, so that nothing is found in a cache by
  /// repetition.
  /// @throws Decided
  Duel(const Task& task, const SizeBytes& sizes, InputKind inputs, uint64_t rng_seed,
       SharedMemory& memory, RunnerSession& reference, RunnerSession& candidate,
       double unit_seconds);

  /// Selects the launch mode for both arms and measures what an empty unit costs each.
  /// @return "", or why one of the arms cannot be recorded
  std::string select(LaunchMode mode);
  /// One ABBA block; the candidate sees new inputs in each of its units. @throws Decided
  Block block();

  /// What one call cannot avoid.
  Work work() const { return count_work(task_, sizes_, work_->arguments(0)); }
  int64_t calls_per_unit() const { return work_->slots(); }
  /// Seconds that an empty unit took, and that block() has taken off: reference, candidate.
  double empty_reference() const { return empty_reference_; }
  double empty_candidate() const { return empty_candidate_; }

 private:
  double unit(RunnerSession& runner);
  double net_unit(RunnerSession& runner, double empty);
  double empty_unit(RunnerSession& runner);
  void warm_up();
  void set_slots(int64_t slots);
  void find_tolerances();
  void refresh();
  void verify();
  void verify_output(int64_t slot, size_t output, const at::Tensor& got);

  const Task& task_;
  SizeBytes sizes_;
  InputKind inputs_;
  at::Generator rng_;
  SharedMemory& memory_;
  RunnerSession& reference_;
  RunnerSession& candidate_;
  LaunchMode mode_ = LaunchMode::stream;
  double empty_reference_ = 0, empty_candidate_ = 0;
  std::unique_ptr<Workload> work_;
  std::vector<std::vector<at::Tensor>> expected_;  ///< [slot][output], by the library
  std::vector<Tolerance> tolerances_;              ///< per output
};

}  // namespace kb
