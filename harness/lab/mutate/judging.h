// Judges mutants, many at a time, and keeps what has been found out.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result/fate.h"
#include "lab/mutate/equivalents.h"
#include "lab/mutate/flatten.h"
#include "lab/mutate/mutants.h"

namespace kb {

/// A mutant with what the judge says of it.
struct Trial {
  Mutant mutant;
  Fate fate;
  std::string verdict;   ///< the judge's, or same_code
  std::string evidence;  ///< the judge's sentence
  std::string reason;    ///< why it is equivalent
};

/// The fate of a mutant that got this verdict.
/// @param entry  of equivalents.json, if one fits
Fate fate_of(const std::string& verdict, bool listed);

/// What the judge says of a kernel.
struct Finding {
  std::string verdict;      ///< or same_code
  std::string evidence;     ///< one sentence
  std::string code_sha256;  ///< of the module
};

/// Verdicts by key, in a file that each is appended to at once, so that a run which was stopped
/// continues. Used by many threads.
class Verdicts {
 public:
  /// @param file  is read, if it is there, and appended to
  explicit Verdicts(std::filesystem::path file);

  std::optional<Finding> find(const std::string& key);
  void keep(const std::string& key, const Finding& verdict);

 private:
  std::filesystem::path file_;
  std::mutex mutex_;
  std::map<std::string, Finding> known_;
};

/// A kernel as it is, in one text, and what mutants of it are compared with.
struct Original {
  FlatSource source;
  std::string code_sha256;
  std::string fault;  ///< why its mutants say nothing: it does not pass itself
};

/// Judges kernels of a build. Used by many threads.
class Judge {
 public:
  /// @param build_dir  of the preset
  /// @param verdicts   outlives this
  Judge(std::filesystem::path build_dir, Verdicts* verdicts);

  /// Judges the kernel as it is.
  Original original(const std::string& task, FlatSource source);
  /// Judges a mutant of it, unless that would say nothing.
  Trial trial(const Original& original, const Mutant& mutant,
              const std::vector<Equivalent>& equivalents);

 private:
  Finding of_mutant(const Original& original, const std::string& task, const Edit& edit);
  std::string key(const std::string& task, const std::string& source) const;
  Finding ask(const std::string& task, const std::string& source,
              const std::string& known_code) const;

  std::filesystem::path build_dir_;
  std::string harness_;  ///< hash of what judges
  Verdicts* verdicts_;
};

/// Calls f(0) ... f(count - 1) from so many threads; rethrows the first exception, after which no
/// further call starts.
void in_parallel(size_t count, int threads, const std::function<void(size_t)>& f);

}  // namespace kb
