// Which lines of a kernel become code.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace kb {

/// Line numbers, from 1, of the flat source that its object has code for: templates that the
/// kernel does not instantiate have none. Compiled as candidates are, without optimisation, and
/// read with objdump.
/// @param build_dir of the preset
/// @return nothing if the kernel does not compile
/// @throws std::runtime_error if this build cannot compile kernels
std::set<int> reached_lines(const std::filesystem::path& build_dir, const std::string& task,
                            const std::string& source);

/// The numbers of a file's lines in what `objdump --dwarf=decodedline` prints.
std::set<int> lines_of_listing(const std::string& listing, const std::string& file);

}  // namespace kb
