// What the order of threads tells about a failure.
#pragma once

#include "base/result/verdict.h"

namespace kb {

/// Whether what goes wrong in one order of threads alone may come of a missing barrier or atomic.
/// Not so where no element alone is wrong: sums that add up in another order miss a bound on the
/// whole output as well.
bool may_be_a_race(const Decided& decided);

}  // namespace kb
