// What the two programs of a task share: arguments, the candidate's entry, its runner.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result/candidate_entry.h"
#include "judge/programs/correctness.h"
#include "judge/programs/given_weights.h"
#include "judge/session/baseline.h"
#include "judge/session/runner_session.h"
#include "kb/task.h"

namespace kb {

/// The arguments, without those that GoogleTest took.
struct ProgramOptions {
  std::filesystem::path manifest;
  std::string candidate;
  std::string inputs = "default";
  std::string contract;                    ///< empty: the build tree's
  std::string sizes;                       ///< a choice of FullSizes; empty: the build tree's
  std::string rng_seed;                    ///< hex; empty: drawn from the kernel
  std::filesystem::path reference_module;  ///< timed instead of the reference: for A/A measurements
  std::filesystem::path report;            ///< where timing goes instead of into the result file
  std::filesystem::path weights;           ///< safetensors in the place of drawn weights
  double call_timeout_s = 10;
  double call_budget_s = 60;  ///< of all calls of .correct, beside ten times the reference's
  int iterations = 3;
  int pairs = 5;                  ///< of processes that a lane is pooled over where launches matter
  std::string require_isolation;  ///< "full", or empty for whatever the build tree asks for

  void add_to(CLI::App& app);
  /// Takes from the build tree what no argument says: the contract, the sizes, the isolation.
  void complete_from(const CandidateEntry& entry);
  /// Sets ATen for the contract.
  void apply_contract() const;
  InputKind input_kind() const;
  /// The task with the weights of a file, if one is given. @throws std::runtime_error
  GivenWeights with_given_weights(const Task& task) const;
  uint64_t seed() const;
};

/// How this candidate's runner is started.
RunnerOptions candidate_runner(const CandidateEntry& entry, const ProgramOptions& options,
                               const std::string& cpu_schedule);
/// On the CPU the runner's blocks run one after the other, whatever the machine has.
void run_blocks_in_order(RunnerOptions& runner);
/// How a control is started: a runner of our own in the candidate's place that computes nothing.
RunnerOptions control_runner(const CandidateEntry& entry);
/// How the reference runner of this very program is started.
RunnerOptions reference_runner(const ProgramOptions& options, const Baseline& baseline);

/// Runs a program's work, on the CPU with one of ATen's threads. An exception becomes a line on
/// stderr and exit code 2: a fault of the judge's own or of how it was called, and no verdict.
int guarded(const char* program, const std::function<int()>& work);

/// Ends the process once its files are written. Without destructors of LibTorch's and CUDA's, which
/// only give back what the kernel takes back anyway.
[[noreturn]] void leave(int status);

/// The GPU that this process and its runners use, as in env.json; null on the CPU backend.
Json own_gpu();

/// Whether times are measurements. On the CPU backend they are functional: they show that the path
/// works, and nothing else.
bool times_count();

/// Writes what a runner printed next to the result file, if it printed anything.
void save_log(const CandidateEntry& entry, const std::string& step, const std::string& text);

}  // namespace kb
