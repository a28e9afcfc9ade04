// Tries every mutant on a task, by the rule that candidates are judged with.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result/fate.h"
#include "base/result/files.h"
#include "kb/task.h"

namespace kb {

struct AssessmentOptions {
  std::string set = "smoke";       ///< smoke or odd
  std::string inputs = "default";  ///< default or compat
  uint64_t rng_seed = 1;
};

struct Trial {
  std::string name;
  Fate fate;
  double error = 0, bound = 0;  ///< of the output that decided
  /// Not a trivial answer: operands or results in fewer bits, or a network with an operator less.
  /// What they are off by may be less than what rounding can produce.
  bool may_survive = false;
};

/// The result of assessing one task.
struct Assessment {
  std::vector<Trial> trials;
  std::vector<std::string> canary;  ///< operands that the precision canary covers

  std::vector<std::string> names(Fate fate) const;
  int64_t killed() const;
  int64_t applicable() const;  ///< killed and survived
};

/// @throws c10::Error if the reference's own result is not accepted or not finite where it should
/// be
Assessment assess(const Task& task, const AssessmentOptions& options);

/// The record for reports.
Json to_json(const Task& task, const AssessmentOptions& options, const Assessment& assessment);

}  // namespace kb
