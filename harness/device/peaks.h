// What this GPU does at best, measured.
#pragma once

#include "result/files.h"

namespace kb {

/// Runs copies, fills, reductions and matrix products for about three seconds. Keys end in _per_s;
/// the two limits follow from clocks and widths. Needs a GPU.
Json measure_peaks();

}  // namespace kb
