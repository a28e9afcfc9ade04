// Headers beyond CUDA's own, which a run has to declare: did a candidate include one without?
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/build/compile_command.h"

namespace kb {

/// Headers that a run may declare by `name`, and the folder that they are included from.
struct HeaderFolder {
  std::string name;
  std::string folder;
};

/// Reads "NAME=FOLDER"; nothing if one of both is missing.
std::optional<HeaderFolder> parse_header_folder(std::string_view text);

/// The file that a line of a compiler's output says it could not open, else an empty text.
std::string_view unopened_file(std::string_view line);

/// One sentence about the first file of `undeclared` headers that a compilation read or tried to
/// read, by any path to it; nothing without one. Looks at what the compiler said and at the
/// depfile.
std::optional<std::string> undeclared_header(const std::vector<HeaderFolder>& undeclared,
                                             const CompileCommand& command,
                                             std::string_view diagnostics);

}  // namespace kb
