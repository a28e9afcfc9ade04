// What of a module is loaded, to tell whether two sources compile to the same program.
#pragma once

#include <filesystem>
#include <string>

namespace kb {

/// SHA-256 in hex of the code and the data of a shared object, without debug information, symbol
/// tables and notes. Kernels on the CPU carry their file's name: sources that are compared name
/// themselves alike with #line.
/// @throws std::runtime_error if it is no 64-bit x86-64 shared object
std::string module_code_sha256(const std::filesystem::path& path);

}  // namespace kb
