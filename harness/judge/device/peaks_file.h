// What was measured once of each GPU, kept in the build folder.
#pragma once

#include <filesystem>
#include <string>

#include "base/result/files.h"

namespace kb {

/// Where the peaks of the GPU with this UUID are kept.
std::filesystem::path peaks_file(const std::filesystem::path& build_dir, const std::string& uuid);

/// Whether the file holds what this version measures, of this very GPU under this driver.
/// @param gpu as in env.json
bool has_peaks(const std::filesystem::path& file, const Json& gpu);

/// Whether has_peaks() holds for every GPU in env.json.
/// @throws std::runtime_error if that names no GPU
bool all_peaks_known(const std::filesystem::path& build_dir);

/// The device memory's fastest rate, bytes per second. Reading, writing and copying differ by a
/// tenth, and a bound that a kernel could get under would be none.
/// @param peaks of measure_peaks()
double memory_rate(const Json& peaks);

/// @param peaks of measure_peaks()
void keep_peaks(const std::filesystem::path& file, const Json& gpu, const Json& peaks);

}  // namespace kb
