// What mutation testing has found, as files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lab/mutate/judging.h"

namespace kb {

/// Counts of mutants.
struct Score {
  long killed = 0, survived = 0, equivalent = 0, unreached = 0, invalid = 0;

  void add(Fate fate);
  /// killed / (killed + survived), in per cent; 100 if there are none.
  double percent() const;
};

/// Writes mutants.json (every mutant), score.csv (by task and operator) and score.md (by operator,
/// by task, and the survivors) into a folder, and makes it. @throws std::runtime_error
void write_report(const std::filesystem::path& folder, const std::vector<Trial>& trials);

}  // namespace kb
