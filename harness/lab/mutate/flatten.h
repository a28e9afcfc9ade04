// One file of a kernel and the headers of the project that it includes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kb {

/// Where a line of a flat source comes from.
struct Origin {
  std::string file;  ///< below the project; empty for a line that flattening has added
  int line = 0;      ///< from 1
};

/// A kernel in one text.
struct FlatSource {
  std::string text;
  std::vector<Origin> origins;  ///< of each line of the text
};

/// Puts the blocks <kb/...> and what lies in levelN/architectures in the places of their #include
/// lines, each once. "task.h", the contract and CUDA's own headers stay as they are. CUDA's two
/// headers of 16-bit types come first, so that a mutant may use them. The text calls itself
/// kernel.cu, wherever it lies: modules carry their source's name.
/// @param project  the project's folder
/// @param file     of the kernel, below it
/// @throws std::runtime_error if a file cannot be read
FlatSource flatten(const std::filesystem::path& project, const std::filesystem::path& file);

}  // namespace kb
