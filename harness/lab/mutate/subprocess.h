// Runs trusted programs, from many threads.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kb {

/// What a program has said on its standard output, and how it ended.
struct Ran {
  std::string output;
  int exit_code = 0;  ///< 128 + signal if a signal ended it
};

/// @param words   the program, looked up in PATH, and its arguments
/// @param folder  where it runs; empty: here
/// @param errors  file for its standard error; empty: ours
/// @throws std::runtime_error if it cannot be started
Ran run_program(const std::vector<std::string>& words, const std::filesystem::path& folder = {},
                const std::string& errors = "");

}  // namespace kb
