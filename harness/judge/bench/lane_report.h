// What a result says about a lane.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result/files.h"
#include "judge/bench/chain.h"

namespace kb {

/// A fact about a lane that is recorded next to its times and decides no verdict by itself.
struct Diagnostic {
  const char* name;  ///< its key in the result
  const char* unit;  ///< "" where it has none
  const char* description;
  Json (*value)(const Chain& chain);
};
/// All of them, in the order of the names.
std::span<const Diagnostic> diagnostics();

/// Times per call, speed-up, interval and verdicts of a lane, as its chain on the first pair shows
/// them, and all diagnostics.
Json describe(const Chain& chain);

/// Puts what several pairs show in the place of the first one's times, speed-up and interval: the
/// means of what each pair says on the log scale. Diagnostics stay the first pair's.
/// @param chains of one lane; those without blocks, and before `first_pair`, do not count
void pool(Json& report, const std::vector<const Chain*>& chains, int first_pair);

}  // namespace kb
