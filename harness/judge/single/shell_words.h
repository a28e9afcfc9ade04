// Splits a command line as the shell does, as far as build systems write them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kb {

/// The words of the one command in `line`; ':' and '&&' around it, which CMake writes, are dropped.
/// @throws std::runtime_error if the line needs more of a shell than quotes
std::vector<std::string> shell_words(std::string_view line);

}  // namespace kb
