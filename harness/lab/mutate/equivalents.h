// Mutants that compute the same, with the reason.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/mutate/mutants.h"

namespace kb {

/// Stands for any text in an entry; no source has it.
inline constexpr std::string_view any = "…";

/// An entry of equivalents.json: every mutant that has all that it names is equivalent. Fields are
/// patterns with `any`; empty ones fit everything.
struct Equivalent {
  std::string task;           ///< such as level1/05…
  std::string mistake;        ///< operator
  std::string file;           ///< below the project
  std::string before, after;  ///< whole lines with single blanks
  std::string reason;
  bool judged = true;  ///< false: not worth judging
};

/// @throws std::runtime_error naming the file and the mistake in it
std::vector<Equivalent> read_equivalents(const std::filesystem::path& file);

bool matches(const Equivalent& entry, const Mutant& mutant);

/// The first entry that the mutant has all of.
std::optional<Equivalent> equivalent_for(const std::vector<Equivalent>& entries,
                                         const Mutant& mutant);

}  // namespace kb
