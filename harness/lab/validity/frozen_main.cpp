// kb_frozen_fields: does judging notice a shipped kernel for which one of its sizes is always the
// published one?
#include <ATen/core/grad_mode.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>

#include "judge/programs/program.h"
#include "judge/session/process.h"
#include "lab/validity/fields_without_effect.h"
#include "lab/validity/frozen_fields.h"
#include "reference/task_library.h"

namespace kb {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> tasks;
  FrozenOptions check;
  fs::path list;  // of fields without effect; empty: the project's
  bool all_fields = false;
};

// In one order on one thread: who looks for races judges.
RunnerOptions shipped_kernel(const CandidateEntry& entry) {
  constexpr double no_hang_s = 60;  // nothing is slow here but a kernel that never ends
  ProgramOptions options;
  options.call_timeout_s = no_hang_s;
  options.complete_from(entry);
  options.apply_contract();
  RunnerOptions kernel = candidate_runner(entry, options, times_count() ? "" : "forward");
  if (!times_count()) run_blocks_in_order(kernel);
  return kernel;
}

// What is wrong with a field, or nothing.
std::string mistake(const FrozenField& field, bool is_listed) {
  const bool is_shown = !field.shown_by.empty();
  if (is_shown != is_listed) return "";
  if (is_listed) return "is listed as without effect, but shown by: " + field.shown_by;
  if (!field.differed) return "is " + field.frozen + " in every set of sizes";
  return "may always be " + field.frozen + ": no call shows it";
}

bool check_task(const fs::path& build_dir, const std::string& name, const Options& options) {
  const Task task = load_task(tasks_folder(), name);
  const std::string candidate = "seed.level" + std::to_string(task.level()) + "." + task.slug();
  const CandidateEntry entry = find_candidate(build_dir / "manifest.json", candidate);
  const fs::path own_list = entry.source_dir / "harness/lab/validity/fields_without_effect.json";
  const FieldsWithoutEffect listed =
      read_fields_without_effect(options.list.empty() ? own_list : options.list, task);
  size_t shown = 0, mistakes = 0;
  FrozenOptions check = options.check;
  for (const auto& [field, reason] : listed) check.not_sought.insert(field);
  const auto fields = check_frozen_fields(task, shipped_kernel(entry), check);
  for (const FrozenField& field : fields) {
    if (!field.shown_by.empty()) ++shown;
    if (options.all_fields) {
      std::printf("  %s: %s\n", field.name.c_str(),
                  field.shown_by.empty() ? "not shown" : field.shown_by.c_str());
    }
    const std::string wrong = mistake(field, listed.contains(field.name));
    if (wrong.empty()) continue;
    ++mistakes;
    std::printf("%s: %s %s\n", name.c_str(), field.name.c_str(), wrong.c_str());
  }
  std::printf("%s: %zu of %zu fields are shown, %zu are listed\n", name.c_str(), shown,
              fields.size(), listed.size());
  std::fflush(stdout);
  return mistakes == 0;
}

int run(const Options& options) {
  const at::NoGradGuard no_grad;
  own_descendants();
  const fs::path build_dir = fs::read_symlink("/proc/self/exe").parent_path().parent_path();
  std::vector<std::string> names = options.tasks;
  if (names == std::vector<std::string>{"all"}) names = task_names(tasks_folder());
  bool right = true;
  for (const std::string& name : names) right = check_task(build_dir, name, options) && right;
  return right ? 0 : 1;
}

}  // namespace
}  // namespace kb

int main(int argc, char** argv) {
  kb::Options options;
  CLI::App app(
      "Gives shipped kernels the published value of one field where the judge's is another; fails "
      "if no call is wrong and fields_without_effect.json does not say why");
  app.add_option("--task", options.tasks, "levelN/NNN_slug, several, or all")->required();
  app.add_option("--list", options.list, "another fields_without_effect.json")
      ->check(CLI::ExistingFile);
  app.add_option("--draws", options.check.draws, "of sizes, for all fields");
  app.add_option("--rng-seed", options.check.rng_seed, "seed of sizes and values");
  app.add_flag("--fields", options.all_fields, "print what shows each field");
  CLI11_PARSE(app, argc, argv);
  kb::leave(kb::guarded(argv[0], [&] { return kb::run(options); }));
}
