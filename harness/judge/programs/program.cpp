// Arguments and runners of a task's programs.
#include "judge/programs/program.h"

#include <ATen/Parallel.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <stdexcept>

#include "base/machine.h"
#include "base/printable.h"
#include "judge/acceptance/precision.h"
#include "judge/device/gpu.h"
#include "judge/session/reference_runner.h"

namespace kb {
namespace {

namespace fs = std::filesystem;

// A runner's environment is empty but for what the CUDA driver and the CPU layer need. The C
// library registers restartable sequences (rseq) for its threads otherwise, and a candidate could
// have the kernel call it back through one.
std::vector<std::string> runner_environment() {
  std::vector<std::string> environment{"PATH=/usr/bin:/bin", "CUDA_CACHE_DISABLE=1",
                                       "CUDA_MODULE_LOADING=LAZY",
                                       "GLIBC_TUNABLES=glibc.pthread.rseq=0"};
  for (const char* name : {"CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH", "KB_CPU_THREADS",
                           "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"}) {
    if (const char* value = std::getenv(name))
      environment.push_back(std::string(name) + "=" + value);
  }
  return environment;
}

std::string hex_seed(const std::string& text) {
  const bool hex = text.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
  return hex && text.size() <= 16 ? "" : "must be up to 16 hex digits, not '" + text + "'";
}

}  // namespace

void ProgramOptions::add_to(CLI::App& app) {
  app.add_option("--manifest", manifest, "manifest.json of the build tree")->required();
  app.add_option("--candidate", candidate, "name of the candidate, such as seed.level1.019_relu")
      ->required();
  app.add_option("--inputs", inputs, "default, or compat for upstream's values")
      ->check(CLI::IsMember({"default", "compat"}));
  app.add_option("--contract", contract, "precision contract instead of the build tree's")
      ->check(CLI::IsMember(contract_names()));
  app.add_option("--sizes", sizes,
                 "instead of the build tree's: full, or <N>g for full sizes scaled down to a GPU "
                 "with N GB of memory");
  app.add_option("--weights", weights,
                 "safetensors with the task's weights under upstream's names, such as a checkpoint")
      ->envname("KB_WEIGHTS");
  app.add_option("--rng-seed", rng_seed, "hex seed of an earlier result, to see it again")
      ->check(hex_seed);
  app.add_option("--reference-module", reference_module,
                 "a module of the same task to time against, instead of the reference");
  app.add_option("--report", report,
                 "append the timing to this file of JSON lines, change no result");
  app.add_option("--call-timeout", call_timeout_s, "seconds that one call may take")
      ->envname("KB_CALL_TIMEOUT")
      ->check(CLI::PositiveNumber);
  app.add_option(
         "--call-budget", call_budget_s,
         "seconds that all calls of .correct may take together, beside ten times what those "
         "of the reference take")
      ->envname("KB_CALL_BUDGET")
      ->check(CLI::PositiveNumber);
  app.add_option("--require-isolation", require_isolation,
                 "full: judge nothing on a machine that lacks a layer of isolation")
      ->envname("KB_REQUIRE_ISOLATION")
      ->check(CLI::IsMember({"", "full"}));
  app.add_option("--pairs", pairs,
                 "pairs of processes that times are pooled over where launches matter; 1: a quick "
                 "look whose intervals do not hold what differs between processes")
      ->envname("KB_PAIRS")
      ->check(CLI::Range(1, 20));
  app.add_option("--iterations", iterations, "calls per set of sizes")->check(CLI::PositiveNumber);
}

void ProgramOptions::complete_from(const CandidateEntry& entry) {
  if (contract.empty()) contract = entry.contract;
  if (sizes.empty()) sizes = entry.sizes;
  if (require_isolation.empty()) require_isolation = entry.required_isolation;
}

void ProgramOptions::apply_contract() const {
  require_element_type(contract);
  apply_precision(contract);
}

InputKind ProgramOptions::input_kind() const {
  return inputs == "compat" ? InputKind::compat : InputKind::standard;
}

GivenWeights ProgramOptions::with_given_weights(const Task& task) const {
  return weights.empty() ? GivenWeights{task, "", {}} : with_weights(task, weights);
}

uint64_t ProgramOptions::seed() const {
  return rng_seed.empty() ? random_seed() : std::stoull(rng_seed, nullptr, 16);
}

RunnerOptions candidate_runner(const CandidateEntry& entry, const ProgramOptions& options,
                               const std::string& cpu_schedule) {
  RunnerOptions runner;
  runner.command = {(entry.build_dir / "bin/kb_runner").string()};
  for (const fs::path& library : entry.preload) {
    runner.command.insert(runner.command.end(), {"--preload", library.string()});
  }
  runner.environment = runner_environment();
  if (!cpu_schedule.empty()) runner.environment.push_back("KB_CPU_SCHEDULE=" + cpu_schedule);
  runner.module = entry.module;
  runner.required_isolation = options.require_isolation;
  runner.call_timeout =
      std::chrono::milliseconds(static_cast<int64_t>(options.call_timeout_s * 1000));
  return runner;
}

// The first of two settings of one name counts.
void run_blocks_in_order(RunnerOptions& runner) {
  runner.environment.insert(runner.environment.begin(), "KB_CPU_THREADS=1");
}

RunnerOptions control_runner(const CandidateEntry& entry) {
  RunnerOptions runner;
  runner.command = {(entry.build_dir / "bin/kb_runner").string(), "--control"};
  runner.environment = runner_environment();
  runner.who = "the control";
  runner.trusted = true;
  return runner;
}

RunnerOptions reference_runner(const ProgramOptions& options, const Baseline& baseline) {
  RunnerOptions runner;
  runner.command = {fs::read_symlink("/proc/self/exe").string(), serve_reference_flag};
  for (std::string& argument : to_arguments(options.contract, baseline)) {
    runner.command.push_back(std::move(argument));
  }
  runner.environment = runner_environment();
  runner.who = "the reference";
  runner.trusted = true;
  runner.call_timeout = std::chrono::seconds(120);
  return runner;
}

int guarded(const char* program, const std::function<int()>& work) {
  // CTest runs several programs side by side; where ATen computes on the CPU, its threads would
  // wait for cores that the others hold, and spin meanwhile.
  if (!times_count()) at::set_num_threads(1);
  try {
    require_machine();
    return work();
  } catch (const c10::Error& error) {
    std::cerr << program << ": " << error.what_without_backtrace() << "\n";
  } catch (const std::exception& error) {
    std::cerr << program << ": " << error.what() << "\n";
  }
  return 2;
}

void leave(int status) {
  std::cout.flush();
  std::fflush(nullptr);
  std::quick_exit(status);
}

Json own_gpu() {
  const std::vector<Json> gpus = find_gpus();
  return gpus.empty() ? Json() : gpus[0];
}

bool times_count() {
#ifdef KB_CUDA
  return true;
#else
  return false;
#endif
}

void save_log(const CandidateEntry& entry, const std::string& step, const std::string& text) {
  fs::path log = entry.result;
  log.replace_extension(step + ".log");
  std::error_code ignored;
  fs::remove(log, ignored);
  if (!text.empty()) replace_text(log, printable_text(text));
}

}  // namespace kb
