// The mutants of a kernel.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "lab/mutate/flatten.h"
#include "lab/mutate/operators.h"

namespace kb {

/// One kernel with one mistake.
struct Mutant {
  std::string id;             ///< stays the same while the lines around it move
  std::string task;           ///< "level1/019_relu"
  std::string mistake;        ///< the operator's name
  std::string file;           ///< below the project
  int line = 0;               ///< of that file
  std::string before, after;  ///< the lines that it changes, with single blanks
  Edit edit;                  ///< of the flat source
};

/// All mutants of a kernel, in the order of operators and places. Of two that make the same text
/// only the first is listed.
/// @param source  the kernel in one text
/// @param reached lines of the text, from 1, that become code; none at all: every line does
std::vector<Mutant> mutants_of(const std::string& task, const FlatSource& source,
                               const std::set<int>& reached);

/// The text with single blanks, and none at its ends.
std::string squeezed(const std::string& text);

}  // namespace kb
