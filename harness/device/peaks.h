// What this GPU does at best, measured.
#pragma once

#include <filesystem>
#include <string>

#include "result/files.h"

namespace kb {

/// Where kb_peaks keeps what it measured on the GPU with this UUID.
inline std::filesystem::path peaks_file(const std::filesystem::path& build_dir,
                                        const std::string& uuid) {
  return build_dir / "peaks" / (uuid + ".json");
}

/// Runs copies, fills, reductions and matrix products for about three seconds. Keys end in _per_s;
/// the two limits follow from clocks and widths. Needs a GPU.
/// @param device its number among those that are visible
Json measure_peaks(int device);

}  // namespace kb
