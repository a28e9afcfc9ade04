// What Nsight Compute says of a candidate's kernels, in the numbers that a result keeps.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result/files.h"

namespace kb {

/// The metrics that ncu is asked for, by its names.
const std::vector<std::string>& ncu_metrics();

/// What the kernels of a call have shown.
/// @param csv  what `ncu --csv --page raw --print-units base` wrote: lines of its own, a header, a
///     row of units, a row per launch
/// @param peaks  what measure_peaks() returns; null if it is not known, and no shares of it follow
/// @return {"kernels": [...]}, the kernels that took longest first, launches of one name together:
///     `ms` and `share` of the call's device time, bytes and operations per second and their share
///     of the GPU's measured peak, percentages of the multiprocessors and of their warps, the three
///     most frequent reasons why warps wait, bytes used of each sector that was loaded or stored
/// @throws std::runtime_error if there is no kernel in it
Json summarise_ncu(std::string_view csv, const Json& peaks);

/// The first thing that ncu complains about in what it said, or ""; who may not read the GPU's
/// counters is told who can allow it.
std::string ncu_complaint(std::string_view said);

/// The cells of one line of CSV; quoted ones may hold commas and doubled quotes.
std::vector<std::string> csv_cells(std::string_view line);

}  // namespace kb
