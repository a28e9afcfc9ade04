// The blocks of a bench in Google Benchmark's format.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bench/chain.h"

namespace kb {

/// Writes Google Benchmark's JSON: one benchmark per lane and pair, one repetition per block with
/// the judge's clock as manual time, so that its tools/compare.py reads the file. Chains without
/// blocks are left out.
/// @param candidate what the benchmarks' names begin with
/// @param program the name that the file's context gives
void write_benchmarks(const std::string& candidate, const std::vector<const Chain*>& chains,
                      const std::string& program, const std::filesystem::path& json);

}  // namespace kb
