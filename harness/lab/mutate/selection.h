// Which mutants to judge where there is no time for all.
#pragma once

#include <cstdint>
#include <vector>

#include "lab/mutate/mutants.h"

namespace kb {

/// The same change in each kernel that has the line; never empty.
using Change = std::vector<Mutant>;

/// The mutants by change: of a block, which many kernels share, those of up to `kernels` kernels,
/// of all if that is 0. Which kernels, and in which order, depends on `rng_seed` alone.
std::vector<Change> by_change(const std::vector<Mutant>& mutants, size_t kernels,
                              uint64_t rng_seed);

/// `count` changes, spread over the tasks of their first mutants and, within each, over operators
/// as evenly as can be; all of them if there are fewer. The same for the same `rng_seed`.
std::vector<Change> sample(const std::vector<Change>& changes, size_t count, uint64_t rng_seed);

}  // namespace kb
