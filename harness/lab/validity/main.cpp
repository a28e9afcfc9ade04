// kb_validity: does a task reject every trivial answer? Nothing else makes its verdicts worth
// having.
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>

#include "judge/acceptance/precision.h"
#include "lab/validity/assessment.h"
#include "reference/task_library.h"

namespace kb {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string task;
  AssessmentOptions assessment;
  bool all_trials = false;
};

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// Reports read the default set and inputs; other choices lie beside it.
fs::path record_path(const fs::path& build_dir, const Task& task, const AssessmentOptions& o) {
  std::string name = "level" + std::to_string(task.level()) + "." + task.slug();
  if (o.set != "smoke") name += "." + o.set;
  if (o.inputs != "default") name += "." + o.inputs;
  return build_dir / "validity" / (name + ".json");
}

bool assess_task(const fs::path& build_dir, const std::string& name, const Options& options) {
  const Task task = load_task(build_dir / "lib/tasks", name);
  const Assessment found = assess(task, options.assessment);
  const auto survivors = found.names(Fate::survived);
  const auto equivalent = found.names(Fate::equivalent);
  std::printf("%s: mutation score: %ld/%ld", name.c_str(), static_cast<long>(found.killed()),
              static_cast<long>(found.applicable()));
  if (!found.canary.empty()) std::printf("; canary: %s", joined(found.canary).c_str());
  if (!equivalent.empty()) std::printf("; without effect: %s", joined(equivalent).c_str());
  if (!survivors.empty()) std::printf("\n  accepted: %s", joined(survivors).c_str());
  if (!task.degenerate.empty()) std::printf("\n  degenerate: %s", task.degenerate.c_str());
  std::printf("\n");
  if (options.all_trials) {
    for (const Trial& t : found.trials) {
      std::printf("  %-40s error %.2e bound %.2e\n", t.name.c_str(), t.error, t.bound);
    }
  }

  Json record = to_json(task, options.assessment, found);
  record["hashes"] = {
      {"task", file_sha256(build_dir / "lib/tasks" /
                           ("level" + std::to_string(task.level()) + "." + task.slug() + ".so"))},
      {"program", file_sha256(build_dir / "bin/kb_validity")}};
  const fs::path path = record_path(build_dir, task, options.assessment);
  fs::create_directories(path.parent_path());
  replace_json(path, record);

  if (survivors.empty() && !task.degenerate.empty() && options.assessment.inputs == "default") {
    std::printf("  but it rejects everything: it is not degenerate\n");
    return false;
  }
  const bool accepts_trivial_answer = std::any_of(
      found.trials.begin(), found.trials.end(),
      [](const Trial& trial) { return trial.fate == Fate::survived && !trial.may_survive; });
  return !accepts_trivial_answer || !task.degenerate.empty();
}

int run(const Options& options) {
  const at::NoGradGuard no_grad;
  at::set_num_threads(1);  // CTest runs several of these at once
  apply_precision("fp32");
  const fs::path build_dir = fs::read_symlink("/proc/self/exe").parent_path().parent_path();
  std::vector<std::string> names{options.task};
  if (options.task == "all") names = task_names(build_dir / "lib/tasks");
  bool valid = true;
  for (const std::string& name : names) {
    try {
      valid = assess_task(build_dir, name, options) && valid;
    } catch (const c10::Error& error) {
      std::cerr << "kb_validity: " << name << ": " << error.what_without_backtrace() << "\n";
      valid = false;
    }
  }
  return valid ? 0 : 1;
}

}  // namespace
}  // namespace kb

int main(int argc, char** argv) {
  kb::Options options;
  CLI::App app(
      "Tries trivial answers on tasks; fails if a task that is not degenerate accepts one");
  app.add_option("--task", options.task, "levelN/NNN_slug, or all")->required();
  app.add_option("--set", options.assessment.set, "sizes")->check(CLI::IsMember({"smoke", "odd"}));
  app.add_option("--inputs", options.assessment.inputs, "default, or compat for upstream's values")
      ->check(CLI::IsMember({"default", "compat"}));
  app.add_option("--rng-seed", options.assessment.rng_seed, "seed of all values");
  app.add_flag("--trials", options.all_trials, "print every mutant with its error and its bound");
  CLI11_PARSE(app, argc, argv);
  try {
    return kb::run(options);
  } catch (const std::exception& error) {
    std::cerr << "kb_validity: " << error.what() << "\n";
    return 2;
  }
}
