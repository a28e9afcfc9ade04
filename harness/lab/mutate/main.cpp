// kb_mutate: would the judge notice if a shipped kernel had a mistake? Makes mutants of the
// kernels, with the blocks that they include, and has them judged.
#include <fnmatch.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <iostream>
#include <mutex>
#include <random>

#include "base/result/candidate_entry.h"
#include "lab/mutate/judging.h"
#include "lab/mutate/reached.h"
#include "lab/mutate/report.h"
#include "lab/mutate/selection.h"

namespace kb {
namespace {

namespace fs = std::filesystem;

constexpr int exit_survivors = 1, exit_fault = 2;

struct Options {
  fs::path build_dir;
  std::vector<std::string> tasks{"*"};
  fs::path out;
  std::string show;
  size_t sample = 0, tasks_of_sample = 0;
  uint64_t rng_seed = 1;
  int jobs = 1;
  size_t kernels_per_block = 0;
  double least_score = 100;
  bool list = false, all_lines = false;
};

std::vector<std::string> task_names(const Options& options) {
  std::vector<std::string> names;
  for (const std::string& name : configured_tasks(read_json(options.build_dir / "manifest.json"))) {
    const bool wanted = std::any_of(
        options.tasks.begin(), options.tasks.end(),
        [&](const std::string& pattern) { return fnmatch(pattern.c_str(), name.c_str(), 0) == 0; });
    if (wanted) names.push_back(name);
  }
  if (names.empty()) {
    throw std::runtime_error("no task of " + options.build_dir.string() +
                             " has such a name: give --task level1/019_relu, or a pattern");
  }
  return names;
}

// Some of the tasks, by `rng_seed`.
std::vector<std::string> some_of(std::vector<std::string> names, const Options& options) {
  if (options.tasks_of_sample == 0 || names.size() <= options.tasks_of_sample) return names;
  std::shuffle(names.begin(), names.end(), std::mt19937_64(options.rng_seed));
  names.resize(options.tasks_of_sample);
  std::sort(names.begin(), names.end());
  return names;
}

/// The kernels with their mutants.
struct Kernels {
  std::vector<std::string> names;
  std::vector<FlatSource> sources;
  std::vector<std::vector<Mutant>> mutants;
};

Kernels read_kernels(const fs::path& project, const Options& options) {
  Kernels kernels{some_of(task_names(options), options), {}, {}};
  const size_t count = kernels.names.size();
  std::fprintf(stderr, "reading %zu kernels: what of the blocks is code in each\n", count);
  kernels.sources.resize(count);
  kernels.mutants.resize(count);
  in_parallel(count, options.jobs, [&](size_t i) {
    const std::string& name = kernels.names[i];
    kernels.sources[i] = flatten(project, fs::path(name) / "candidate.cu");
    const std::set<int> reached =
        options.all_lines ? std::set<int>{}
                          : reached_lines(options.build_dir, name, kernels.sources[i].text);
    kernels.mutants[i] = mutants_of(name, kernels.sources[i], reached);
  });
  return kernels;
}

std::vector<Change> chosen(const Kernels& kernels, const std::vector<Equivalent>& equivalents,
                           const Options& options) {
  std::vector<Mutant> all;
  for (const auto& of : kernels.mutants) all.insert(all.end(), of.begin(), of.end());
  if (options.sample > 0) {  // a sample consists of what is judged
    std::erase_if(all, [&](const Mutant& m) {
      const auto entry = equivalent_for(equivalents, m);
      return entry && !entry->judged;
    });
  }
  const std::vector<Change> changes = by_change(all, options.kernels_per_block, options.rng_seed);
  return options.sample > 0 ? sample(changes, options.sample, options.rng_seed) : changes;
}

void print_trial(const Trial& t) {
  std::printf("%-10s %s %s %s %s:%d\n", to_string(t.fate), t.mutant.id.c_str(),
              t.mutant.task.c_str(), t.mutant.mistake.c_str(), t.mutant.file.c_str(),
              t.mutant.line);
  if (t.fate == Fate::survived) {
    std::printf("  %s\n  %s\n", t.mutant.before.c_str(), t.mutant.after.c_str());
  }
  std::fflush(stdout);
}

int weight(Fate fate) {
  constexpr Fate by_weight[] = {Fate::invalid, Fate::equivalent, Fate::unreached, Fate::survived,
                                Fate::killed};
  return static_cast<int>(std::find(std::begin(by_weight), std::end(by_weight), fate) - by_weight);
}

// A change that one kernel shows to be wrong is refused, whatever others say.
Trial judge_change(const Change& change, const std::function<Trial(const Mutant&)>& judge) {
  Trial found = judge(change.front());
  for (size_t i = 1; i < change.size() && found.fate != Fate::killed; ++i) {
    Trial trial = judge(change[i]);
    if (weight(trial.fate) > weight(found.fate)) found = std::move(trial);
  }
  return found;
}

std::vector<Trial> judge_all(const Kernels& kernels, const std::vector<Change>& changes,
                             const std::vector<Equivalent>& equivalents, const Options& options) {
  fs::create_directories(options.out);
  Verdicts verdicts(options.out / "verdicts.jsonl");
  Judge judge(options.build_dir, &verdicts);
  std::map<std::string, size_t> places;
  for (size_t i = 0; i < kernels.names.size(); ++i) places[kernels.names[i]] = i;
  std::vector<Original> originals(kernels.names.size());
  std::vector<std::once_flag> judged(originals.size());
  // When a change is first made in it: most changes need one kernel of several.
  const auto original_of = [&](const std::string& name) -> const Original& {
    const size_t i = places.at(name);
    std::call_once(judged[i], [&] { originals[i] = judge.original(name, kernels.sources[i]); });
    return originals[i];
  };
  std::fprintf(stderr, "judging %zu changes, and the kernels that they are made in\n",
               changes.size());
  std::vector<Trial> trials(changes.size());
  std::mutex mutex;
  in_parallel(changes.size(), options.jobs, [&](size_t i) {
    trials[i] = judge_change(changes[i], [&](const Mutant& m) {
      return judge.trial(original_of(m.task), m, equivalents);
    });
    const std::lock_guard lock(mutex);
    print_trial(trials[i]);
  });
  return trials;
}

int show(const Kernels& kernels, const std::string& id) {
  for (size_t i = 0; i < kernels.names.size(); ++i) {
    for (const Mutant& m : kernels.mutants[i]) {
      if (m.id != id) continue;
      std::cout << apply(kernels.sources[i].text, m.edit);
      return 0;
    }
  }
  throw std::runtime_error("there is no mutant " + id + ": --list names them");
}

int run(const Options& options) {
  const fs::path project =
      read_json(options.build_dir / "manifest.json").at("source_dir").get<std::string>();
  const auto equivalents = read_equivalents(project / "harness/lab/mutate/equivalents.json");
  const Kernels kernels = read_kernels(project, options);
  if (!options.show.empty()) return show(kernels, options.show);
  const std::vector<Change> changes = chosen(kernels, equivalents, options);
  if (options.list) {
    for (const Change& change : changes) {
      for (const Mutant& m : change) {
        std::printf("%s %s %s %s:%d\n  %s\n  %s\n", m.id.c_str(), m.task.c_str(), m.mistake.c_str(),
                    m.file.c_str(), m.line, m.before.c_str(), m.after.c_str());
      }
    }
    std::printf("%zu changes\n", changes.size());
    return 0;
  }
  const std::vector<Trial> trials = judge_all(kernels, changes, equivalents, options);
  write_report(options.out, trials);
  Score score;
  for (const Trial& t : trials) score.add(t.fate);
  std::printf(
      "mutation score: %.1f %%: %ld killed, %ld survived, %ld equivalent, %ld unreached, %ld "
      "invalid; %s\n",
      score.percent(), score.killed, score.survived, score.equivalent, score.unreached,
      score.invalid, (options.out / "score.md").c_str());
  return score.percent() < options.least_score ? exit_survivors : 0;
}

}  // namespace
}  // namespace kb

int main(int argc, char** argv) {
  kb::Options options;
  options.build_dir = kb::fs::read_symlink("/proc/self/exe").parent_path().parent_path();
  CLI::App app(
      "Makes mutants of the shipped kernels, each with one mistake, and has them judged.\n"
      "Exit code: 0 if enough are refused, 1 if not, 2 if nothing could be done.");
  app.add_option("--task", options.tasks, "levelN/NNN_slug, or a pattern such as 'level1/*'");
  app.add_option("--out", options.out,
                 "folder of the report; verdicts that it has are not asked "
                 "for again (default: mutation/ in the build folder)");
  app.add_option("--sample", options.sample, "judge only so many, spread over tasks and operators");
  app.add_option("--tasks", options.tasks_of_sample, "of so many tasks only, by the rng_seed");
  app.add_option("--rng-seed", options.rng_seed, "of the sample");
  app.add_option("--kernels-per-block", options.kernels_per_block,
                 "try a change of a block in so many kernels, until one of them shows that it is "
                 "wrong; 0: in all");
  app.add_option("-j,--jobs", options.jobs, "how many to judge side by side")
      ->check(CLI::PositiveNumber);
  app.add_option("--least-score", options.least_score, "per cent that must be refused");
  app.add_flag("--list", options.list, "only list the mutants");
  app.add_flag("--all-lines", options.all_lines, "also of templates that no kernel instantiates");
  app.add_option("--show", options.show, "only print the source of the mutant with this id");
  CLI11_PARSE(app, argc, argv);
  if (options.out.empty()) options.out = options.build_dir / "mutation";
  try {
    return kb::run(options);
  } catch (const std::exception& error) {
    std::cerr << "kb_mutate: " << error.what() << "\n";
    return kb::exit_fault;
  }
}
