// What sums lose that one thread forms in floats, term after term: the order that needs no thought,
// and the one that loses most.
#pragma once

#include <cfloat>
#include <cmath>
#include <cstdint>

#include "judge/acceptance/on_both.h"

namespace kb {

/// A thread adds no more terms than this: whoever sums millions of terms splits them.
inline constexpr int64_t longest_running_sum = int64_t{1} << 19;

/// How far the running sum of `terms` in floats is from the one in doubles where it is farthest.
/// Equal terms lose in one direction, and small ones vanish next to a large sum, so it depends on
/// the terms themselves; at its farthest, because errors may cancel by chance at the end. Infinity
/// and NaN lose nothing.
KB_ON_BOTH inline double loss_of_running_sum(const double* terms, int64_t count) {
  float in_float = 0;
  double sum = 0, largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    in_float += static_cast<float>(terms[i]);
    sum += terms[i];
    const double off = fabs(in_float - sum);
    if (off > largest && off <= DBL_MAX) largest = off;
  }
  return largest;
}

}  // namespace kb
