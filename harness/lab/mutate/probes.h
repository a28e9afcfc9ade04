// Does a kernel get to where a mutant would differ?
#pragma once

#include <vector>

#include "lab/mutate/mutants.h"

namespace kb {

/// What ends the program where the mutant would differ: before the statement with the edit, or the
/// one that its condition belongs to, and in the operand of ?:, && or || with it. A kernel that
/// passes with one of them does not get there.
/// @return none if that is no place for it
std::vector<Edit> probes_of(const FlatSource& source, const Mutant& mutant);

}  // namespace kb
