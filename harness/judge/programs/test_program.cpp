// Registers one GoogleTest per set of sizes and lets the first wrong answer end the run.
#include "judge/programs/test_program.h"

#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <sstream>

#include "base/printable.h"
#include "base/result/verdict.h"
#include "base/sha256.h"
#include "judge/acceptance/memory.h"
#include "judge/acceptance/precision.h"
#include "judge/device/gpu_choice.h"
#include "judge/device/gpu_turn.h"
#include "judge/programs/order_hint.h"
#include "judge/programs/program.h"

namespace kb {
namespace {

// One step of judging: a set of sizes.
struct Step {
  std::string set;
  int iterations;
  bool mixed = false;  ///< also with values of families
};

std::vector<Step> plan(int iterations, const std::string& full) {
  std::vector<Step> steps{{"smoke", iterations}, {"families", 1}, {"odd", iterations, true},
                          {"drawn", 1, true},    {"redrawn", 1},  {"long", 1}};
  if (times_count()) steps.push_back({full, 2, true});
  return steps;
}

// How the CPU layer orders threads and blocks (harness/cpu/runtime/order.hpp): anew for each
// launch, of a hash of the seed, since the runner is told it; "" on a GPU.
std::string drawn_schedule(uint64_t seed) {
  if (times_count()) return "";
  Sha256 hash;
  hash.update("order of threads", 16);
  hash.update(&seed, sizeof seed);
  return "drawn:" + hash.hex_digest().substr(0, 16);
}

// All that the tests of one program share.
struct Judging {
  const Task task;
  std::shared_ptr<CallBudget> budget;
  std::string full;  ///< what results call the task's full sizes
  ProgramOptions options;
  ResultFile file;
  uint64_t seed;
  std::unique_ptr<SharedMemory> memory = make_shared_memory();
  std::optional<Correctness> correctness;
  std::unique_ptr<RunnerSession> runner;
  std::string printed;  ///< by the runners that have ended
  std::string schedule;
  Json report = Json::object();
  std::optional<Decided> decided;
  int64_t free_before = 0;  ///< bytes of the device, before the candidate is loaded

  Judging(const Task& t, std::string full_name, ProgramOptions o, CandidateEntry entry)
      : task(timed(t)),
        budget(std::make_shared<CallBudget>(o.call_budget_s)),
        full(std::move(full_name)),
        options(std::move(o)),
        file(std::move(entry)),
        seed(options.seed()) {}

  // The task with a reference whose calls count for the candidate's budget: those of LibTorch,
  // not those in fp64, whose number depends on the candidate.
  Task timed(Task t) {
    t.reference = [this, reference = t.reference](const SizeBytes& sizes,
                                                  const std::vector<Tensor>& given) {
      const bool is_oracle = std::any_of(given.begin(), given.end(), [](const Tensor& tensor) {
        return tensor.scalar_type() == at::kDouble;
      });
      if (is_oracle) return reference(sizes, given);
      const auto start = std::chrono::steady_clock::now();
      std::vector<Tensor> outputs = reference(sizes, given);
      memory->finish();
      budget->add_reference(
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      return outputs;
    };
    return t;
  }

  RunnerSession& runner_for(const std::string& wanted) {
    if (!runner || schedule != wanted) {
      end_runner();
      schedule = wanted;
      RunnerOptions how = candidate_runner(file.entry(), options, wanted);
      how.budget = budget;
      // What is in order is so for blocks, too.
      const bool in_order = wanted == "forward" || wanted == "reverse";
      if (in_order) run_blocks_in_order(how);
      memory->renew();
      runner = std::make_unique<RunnerSession>(how, *memory);
    }
    return *runner;
  }

  void end_runner() {
    if (!runner) return;
    runner->end();
    printed += runner->output();
    file.json()["isolation"] = runner->isolation();
    runner.reset();
  }
};

// What the CPU layer noticed and no verdict says: each sentence once, a few of them.
Json warnings_in(const std::string& printed) {
  constexpr size_t most = 8, longest = 400;
  Json found = Json::array();
  std::istringstream lines(printed);
  for (std::string line; found.size() < most && std::getline(lines, line);) {
    if (!line.starts_with(cpu_warning)) continue;
    const Json sentence = printable(line.substr(cpu_warning.size(), longest));
    if (std::find(found.begin(), found.end(), sentence) == found.end()) found.push_back(sentence);
  }
  return found;
}

class StepTest : public testing::Test {
 public:
  StepTest(Judging& judging, Step step) : judging_(judging), step_(std::move(step)) {}

  void TestBody() override {
    if (judging_.decided) GTEST_SKIP() << "an earlier step has decided";
    try {
      OraclePlan oracle;
      if (step_.set == judging_.full) oracle = plan_full();
      RunnerSession& runner = judging_.runner_for(drawn_schedule(judging_.seed));
      judging_.report["sets"].push_back(check(*judging_.correctness, runner, step_, oracle));
    } catch (const Decided& decided) {
      judging_.decided = with_order(decided);
      if (decided.verdict == Verdict::skipped) GTEST_SKIP() << decided.what();
      FAIL() << to_string(decided.verdict) << ": " << judging_.decided->what();
    }
  }

 private:
  // Memory that was free before the candidate's code was loaded is missing because of it.
  OraclePlan plan_full() const {
    constexpr int64_t other = int64_t{2} << 30;  // contexts, and what the smaller sets left
    const Task& task = judging_.task;
    try {
      return plan_oracle(task, task.full, judging_.memory->available_bytes());
    } catch (const Decided& decided) {
      plan_oracle(task, task.full, judging_.free_before - other);  // throws if it never fitted
      throw Decided(Verdict::runtime_error,
                    "the candidate keeps memory that judging it at full size needs: " +
                        std::string(decided.what()));
    }
  }

  Json check(Correctness& correctness, RunnerSession& runner, const Step& step,
             const OraclePlan& oracle) {
    Json set = check_set(correctness, runner, step, oracle);
    if (judging_.memory->written_when_gone()) {
      throw Decided(Verdict::incorrect,
                    "the candidate wrote into tensors of earlier calls, which are gone",
                    {{"set", step.set}, {"reason", "out_of_bounds"}});
    }
    return set;
  }

  static Json check_set(Correctness& correctness, RunnerSession& runner, const Step& step,
                        const OraclePlan& oracle) {
    if (step.set == "families") return correctness.check_families(runner);
    if (step.set == "redrawn" || step.set == "long") {
      return correctness.check_calls(runner, step.set);
    }
    return correctness.check_set(runner, step.set, step.iterations, step.mixed, oracle);
  }

  // What goes wrong in some orders alone depends on the order in which threads and blocks run, but
  // for the time of all calls together, which merely ends in one of them.
  Decided with_order(const Decided& decided) {
    if (times_count() || decided.verdict != Verdict::incorrect) return decided;
    if (!may_be_a_race(decided) || judging_.budget->left_s() <= 0) return decided;
    if (!passes_in("forward") && !passes_in("reverse")) return decided;
    return {decided.verdict,
            std::string(decided.what()) +
                "; only in some orders of threads and blocks, so a barrier or an atomic may be "
                "missing: the preset cpu-tsan says which access",
            decided.worst};
  }

  // Whether this step and those before it pass with the same values in an order in which mistakes
  // go unseen: with a mistake of another kind they would fail, too.
  bool passes_in(const std::string& schedule) {
    const ProgramOptions& options = judging_.options;
    try {
      RunnerSession& runner = judging_.runner_for(schedule);
      Correctness again(judging_.task, *judging_.memory, {options.input_kind(), judging_.seed});
      for (const Step& step : plan(options.iterations, judging_.full)) {
        check(again, runner, step, {});
        if (step.set == step_.set) return true;
      }
    } catch (const std::exception&) {  // a verdict is there already
    }
    return false;
  }

  Judging& judging_;
  Step step_;
};

void register_steps(Judging& judging) {
  for (const Step& step : plan(judging.options.iterations, judging.full)) {
    testing::RegisterTest(judging.options.candidate.c_str(), step.set.c_str(), nullptr, nullptr,
                          __FILE__, __LINE__,
                          [&judging, step] { return new StepTest(judging, step); });
  }
}

int finish(Judging& judging) {
  // A verdict needs every step to have run, whatever GoogleTest was told to filter.
  if (!judging.decided &&
      judging.report["sets"].size() != plan(judging.options.iterations, judging.full).size()) {
    throw std::runtime_error(
        "not every step ran (is a --gtest_filter set?); no verdict is written");
  }
  Verdict verdict = Verdict::pass;
  std::string evidence = "every element of every call is right";
  if (judging.decided) {
    verdict = judging.decided->verdict;
    evidence = judging.decided->what();
    judging.report["worst"] = judging.decided->worst;
  } else if (!judging.task.degenerate.empty()) {
    verdict = Verdict::degenerate;
    evidence += ", but the task accepts trivial answers too: " + judging.task.degenerate;
  }
  judging.end_runner();
  save_log(judging.file.entry(), "correct", judging.printed);
  judging.report["warnings"] = warnings_in(judging.printed);
  judging.report["calls"] = {{"spent_seconds", judging.budget->spent_s()},
                             {"left_seconds", std::max(0.0, judging.budget->left_s())}};
  judging.file.json()["correctness"] = judging.report;
  judging.file.save("correct", to_string(verdict), evidence);
  std::printf("%s: %s: %s\n", judging.options.candidate.c_str(), to_string(verdict),
              judging.file.json()["evidence"].get<std::string>().c_str());
  for (const Json& warning : judging.report["warnings"]) {
    std::printf("warning: %s\n", warning.get<std::string>().c_str());
  }
  switch (verdict) {
    case Verdict::pass:
      return 0;
    case Verdict::skipped:
    case Verdict::degenerate:
      return exit_skipped;
    default:
      return 1;
  }
}

// Reads what the build step has left. CTest takes one that was skipped for one that succeeded.
bool is_to_be_judged(ResultFile& file) {
  file.resume();
  const Json& result = file.json();
  if (result["stage"] != "build" || result["verdict"].is_null()) return true;
  std::printf("%s is not judged: its verdict is %s\n", file.entry().name.c_str(),
              result["verdict"].dump().c_str());
  return false;
}

int judge(int argc, char** argv, const Task& declared) {
  ProgramOptions options;
  CLI::App app("Judges one candidate of " + declared.name);
  options.add_to(app);
  CLI11_PARSE(app, argc, argv);
  CandidateEntry found = find_candidate(options.manifest, options.candidate);
  options.complete_from(found);
  const FullSizes full(options.sizes);
  const at::NoGradGuard no_grad;
  const GivenWeights weights = options.with_given_weights(full.scaled(declared));
  const Task& task = weights.task;
  Judging judging(task, full.name(declared), options, std::move(found));
  options.apply_contract();
  if (!is_to_be_judged(judging.file)) return exit_skipped;
  if (times_count()) {
    const CandidateEntry& entry = judging.file.entry();
    wait_for_gpu(entry.build_dir, scheduled_gpus(entry.build_dir));
    if (!is_to_be_judged(judging.file)) return exit_skipped;  // another judge may have had it
  }
  // The first runner sets CUDA up while this process does.
  judging.runner_for(drawn_schedule(judging.seed));
  judging.correctness.emplace(judging.task, *judging.memory,
                              CorrectnessOptions{options.input_kind(), judging.seed});
  judging.free_before = judging.memory->available_bytes();
  char hex[20];
  std::snprintf(hex, sizeof hex, "%016lx", static_cast<unsigned long>(judging.seed));
  judging.report = {{"contract", judging.options.contract},
                    {"precision", precision_settings()},
                    {"inputs", options.inputs},
                    {"rng_seed", hex},
                    {"weights", to_json(weights)},
                    {"sets", Json::array()},
                    {"worst", nullptr}};
  judging.file.json()["category"] = task.category;
  judging.file.json()["machine"]["gpu"] = own_gpu();
  judging.file.json()["timing"] = nullptr;
  register_steps(judging);
  // A fault of the judge's own must end the program, not look like a failed test.
  GTEST_FLAG_SET(catch_exceptions, false);
  [[maybe_unused]] const int counted = RUN_ALL_TESTS();  // the verdict counts, not this
  return finish(judging);
}

}  // namespace

int test_main(int argc, char** argv, const Task& task) {
  testing::InitGoogleTest(&argc, argv);
  // The verdict says it all; a failed step would be told twice, and each that it left out, too.
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  return guarded(argv[0], [&] {
    own_descendants();
    use_given_gpu();
    return judge(argc, argv, task);
  });
}

}  // namespace kb
