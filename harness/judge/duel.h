// Reference and candidate taking turns under the judge's clock, every timed output checked.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "judge/compare.h"
#include "judge/runner_session.h"
#include "judge/workload.h"
#include "timing/pairing.h"

namespace kb {

/// How units are launched: every call on the stream, or one recorded graph.
enum class LaunchMode { stream, graph };

class Duel {
 public:
  /// Starts from two idle runners. Chooses how many calls make a unit of `unit_seconds`.
  /// @throws Decided
  Duel(const Task& task, const SizeBytes& sizes, InputKind inputs, uint64_t rng_seed,
       SharedMemory& memory, RunnerSession& reference, RunnerSession& candidate,
       double unit_seconds);

  /// Selects the launch mode for both arms. @return false if one of them cannot be recorded
  bool select(LaunchMode mode);
  /// One ABBA block on fresh inputs. @throws Decided if an output is wrong
  Block block();

  int64_t calls_per_unit() const { return work_->slots(); }

 private:
  double unit(RunnerSession& runner);
  void calibrate(double unit_seconds);
  void find_tolerances();
  void expect();
  void verify();

  const Task& task_;
  SizeBytes sizes_;
  InputKind inputs_;
  at::Generator rng_;
  SharedMemory& memory_;
  RunnerSession& reference_;
  RunnerSession& candidate_;
  LaunchMode mode_ = LaunchMode::stream;
  std::unique_ptr<Workload> work_;
  std::vector<std::vector<at::Tensor>> expected_;  ///< [slot][output], by the library
  std::vector<Tolerance> tolerances_;              ///< per output
};

}  // namespace kb
