// Is a candidate right? Fresh inputs for every call, every element compared, nothing trusted.
#pragma once

#include <string>
#include <vector>

#include "base/result/files.h"
#include "judge/acceptance/compare.h"
#include "judge/acceptance/mixes.h"
#include "judge/acceptance/slicing.h"
#include "judge/session/runner_session.h"
#include "judge/session/workload.h"
#include "kb/task.h"

namespace kb {

struct CorrectnessOptions {
  InputKind inputs = InputKind::standard;
  uint64_t rng_seed = 0;
};

class Correctness {
 public:
  Correctness(const Task& task, SharedMemory& memory, CorrectnessOptions options);

  /// Judges `iterations` calls at one set of sizes: one with new weights and inputs, one that
  /// differs from it in a few elements of its inputs, one that differs in a few weights, and so on.
  /// @param set "smoke", "odd", "drawn", "full" or what FullSizes calls it
  /// @param mixed whether calls follow with values of the families that check_families() has judged
  /// @param plan where memory is short
  /// @return the report of this set for the result file. @throws Decided
  Json check_set(RunnerSession& runner, const std::string& set, int iterations, bool mixed = false,
                 const OraclePlan& plan = {});

  /// Judges one call with inputs of each family at smoke sizes, of a network some of them. Leaves
  /// out families in which LibTorch itself does not hold.
  /// @return the report, which names both. @throws Decided
  Json check_families(RunnerSession& runner);

  /// Judges one call at each of several sizes.
  /// @param set "redrawn": drawn like "drawn"; "long": with one long dimension each
  /// (acceptance/long_sizes.h)
  /// @return the report, which names them. @throws Decided
  Json check_calls(RunnerSession& runner, const std::string& set);

  /// The sizes of a named set; of "redrawn" and "long" those of the last call.
  const SizeBytes& sizes(const std::string& set) const;

 private:
  // Runs one call and looks for damage; the outputs as they were then.
  std::vector<at::Tensor> call(RunnerSession& runner, Workload& work, const std::string& set);
  // Products only: is every operand used in full fp32? null where the canary does not apply.
  Json check_canary(RunnerSession& runner, Workload& work, const std::string& set);
  // Calls with values of the families that have held; whether LibTorch holds in them, too.
  Json check_mixes(RunnerSession& runner, Workload& work, const std::string& set,
                   const OraclePlan& plan);
  bool check_mix(RunnerSession& runner, Workload& work, const std::string& set,
                 const OraclePlan& plan, const Mix& mix);
  // Values of a set's call number `index`.
  void draw(RunnerSession& runner, Workload& work, int index);
  // Several sizes, and what they are called.
  std::vector<std::pair<std::string, SizeBytes>> choose_sizes(const std::string& set);
  // Draws weights, times `scale`, and has the runner prepare them.
  void draw_weights(RunnerSession& runner, Workload& work, double scale);
  [[noreturn]] void decide_incorrect(const TensorSpec& spec, const Comparison& comparison,
                                     const std::string& set, const std::string& circumstances);
  void check_call(RunnerSession& runner, Workload& work, const std::string& set,
                  const OraclePlan& plan, Json& outputs);
  // For the noise of one call's reference.
  uint64_t next_noise_seed() { return options_.rng_seed ^ (++noise_seeds_ << 32); }
  // The families of this session.
  std::vector<Family> choose_families();

  const Task& task_;
  SharedMemory& memory_;
  CorrectnessOptions options_;
  at::Generator rng_;       ///< of the device, for values
  at::Generator host_rng_;  ///< for choices
  uint64_t noise_seeds_ = 0;
  SizeBytes drawn_;
  SizeBytes several_;         ///< of a set with several sizes the ones in use
  std::vector<Family> held_;  ///< what check_families() has judged
};

/// A seed that nobody can guess, from the kernel.
uint64_t random_seed();

}  // namespace kb
