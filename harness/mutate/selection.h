// Which mutants to judge where there is no time for all.
#pragma once

#include <cstdint>
#include <vector>

#include "mutate/mutants.h"

namespace kb {

/// Of the mutants of a block, which many kernels share, those of `kernels` kernels; all of a
/// kernel's own. Which kernels depends on the seed alone.
std::vector<Mutant> once_per_block(const std::vector<Mutant>& mutants, int kernels, uint64_t seed);

/// `count` mutants, spread over tasks and, within each, over operators as evenly as can be; all of
/// them if there are fewer. The same for the same seed.
std::vector<Mutant> sample(const std::vector<Mutant>& mutants, size_t count, uint64_t seed);

}  // namespace kb
