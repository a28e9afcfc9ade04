// The judge is kb_judge_kernel, as tools/judge calls it.
#include "lab/mutate/judging.h"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "base/result/candidate_entry.h"
#include "base/sha256.h"
#include "lab/mutate/probes.h"
#include "lab/mutate/subprocess.h"

namespace kb {

namespace fs = std::filesystem;

Fate fate_of(const std::string& verdict, bool listed) {
  if (verdict == "same_code") return Fate::equivalent;
  if (verdict == "pass") return listed ? Fate::equivalent : Fate::survived;
  if (verdict == "incorrect" || verdict == "runtime_error" || verdict == "timeout" ||
      verdict == "cheat") {
    return Fate::killed;
  }
  return Fate::invalid;
}

Verdicts::Verdicts(fs::path file) : file_(std::move(file)) {
  std::ifstream lines(file_);
  for (std::string line; std::getline(lines, line);) {
    const Json entry = Json::parse(line, nullptr, false);
    if (entry.is_discarded()) continue;  // cut off when a run was stopped
    known_[entry.at("key")] = {entry.at("verdict"), entry.at("evidence"), entry.at("code_sha256")};
  }
}

std::optional<Finding> Verdicts::find(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(key);
  return found == known_.end() ? std::nullopt : std::optional(found->second);
}

void Verdicts::keep(const std::string& key, const Finding& verdict) {
  const Json entry{{"key", key},
                   {"verdict", verdict.verdict},
                   {"evidence", verdict.evidence},
                   {"code_sha256", verdict.code_sha256}};
  const std::lock_guard lock(mutex_);
  known_[key] = verdict;
  std::ofstream out(file_, std::ios::app);
  out << entry.dump(-1, ' ', false, Json::error_handler_t::replace) << "\n" << std::flush;
  if (!out) throw std::runtime_error(file_.string() + " cannot be written: is the disk full?");
}

Judge::Judge(fs::path build_dir, Verdicts* verdicts)
    : build_dir_(std::move(build_dir)), harness_(harness_sha256(build_dir_)), verdicts_(verdicts) {}

std::string Judge::key(const std::string& task, const std::string& source) const {
  std::string library = task;
  library[library.find('/')] = '.';
  return sha256_hex(harness_ + "\n" + file_sha256(build_dir_ / "lib/tasks" / (library + ".so")) +
                    "\n" + source);
}

Finding Judge::ask(const std::string& task, const std::string& source,
                   const std::string& known_code) const {
  const TemporaryDirectory folder;
  const fs::path file = folder.path() / "kernel.cu", errors = folder.path() / "errors";
  write_file_atomically(file, source);
  const Ran ran =
      run_program({build_dir_ / "bin/kb_judge_kernel", "--no-timing", "--contract", "fp32",
                   "--build-dir", build_dir_, "--unless-code", known_code, "--", task, file},
                  {}, errors);
  if (ran.output.empty()) {
    throw std::runtime_error("a kernel of " + task + " could not be judged: " + read_text(errors));
  }
  const Json result = Json::parse(ran.output);
  return {result.at("verdict"), result.value("evidence", ""), result.at("code_sha256")};
}

Original Judge::original(const std::string& task, FlatSource source) {
  const std::string place = key(task, source.text);
  std::optional<Finding> verdict = verdicts_->find(place);
  if (!verdict) {
    verdict = ask(task, source.text, "unknown");
    const bool right = verdict->verdict == "pass" || verdict->verdict == "degenerate";
    if (!right) {  // it may be the machine's fault, and is not kept
      return {std::move(source), "",
              "the kernel itself is " + verdict->verdict + ": " + verdict->evidence};
    }
    verdicts_->keep(place, *verdict);
  }
  return {std::move(source), verdict->code_sha256, ""};
}

Trial Judge::trial(const Original& original, const Mutant& mutant,
                   const std::vector<Equivalent>& equivalents) {
  const auto entry = equivalent_for(equivalents, mutant);
  if (entry && !entry->judged) return {mutant, Fate::equivalent, "", "", entry->reason};
  if (!original.fault.empty()) return {mutant, Fate::invalid, "", original.fault, ""};
  const Finding verdict = of_mutant(original, mutant.task, mutant.edit);
  Trial trial{mutant, fate_of(verdict.verdict, entry.has_value()), verdict.verdict,
              verdict.evidence, ""};
  if (verdict.verdict == "same_code") {
    trial.reason = "it compiles to the same code";
  } else if (trial.fate == Fate::equivalent) {
    trial.reason = entry->reason;
  } else if (trial.fate == Fate::survived) {
    const std::vector<Edit> probes = probes_of(original.source, mutant);
    if (std::any_of(probes.begin(), probes.end(), [&](const Edit& probe) {
          return of_mutant(original, mutant.task, probe).verdict == "pass";
        })) {
      trial.fate = Fate::unreached;
      trial.reason = "the kernel does not get there at the sizes that are judged on the CPU";
    }
  }
  return trial;
}

Finding Judge::of_mutant(const Original& original, const std::string& task, const Edit& edit) {
  const std::string source = apply(original.source.text, edit);
  const std::string place = key(task, source);
  std::optional<Finding> verdict = verdicts_->find(place);
  if (!verdict) {
    verdict = ask(task, source, original.code_sha256);
    verdicts_->keep(place, *verdict);
  }
  return *verdict;
}

void in_parallel(size_t count, int threads, const std::function<void(size_t)>& f) {
  std::atomic<size_t> next = 0;
  std::exception_ptr failed;
  std::mutex mutex;
  const auto work = [&] {
    for (size_t i = 0; (i = next++) < count;) {
      try {
        f(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failed) failed = std::current_exception();
        next = count;
      }
    }
  };
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t) workers.emplace_back(work);
  for (std::thread& worker : workers) worker.join();
  if (failed) std::rethrow_exception(failed);
}

}  // namespace kb
