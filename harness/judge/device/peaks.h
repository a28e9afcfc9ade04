// What this GPU does at best, measured.
#pragma once

#include "base/result/files.h"

namespace kb {

/// Runs copies, fills, reductions and matrix products for about three seconds. Keys end in _per_s;
/// the two limits follow from clocks and widths. Needs a GPU.
/// @param device its number among those that are visible
Json measure_peaks(int device);

}  // namespace kb
