// What can still be checked about the files a candidate reads where the kernel has no Landlock.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/landlock.h"
#include "sandbox/build/compile_command.h"

namespace kb {

/// `path` without links and "..", also if it does not exist.
std::filesystem::path real_path(const std::filesystem::path& path);

/// True if `file` is `folder` or lies below it. Both are real paths.
bool is_below(const std::filesystem::path& file, const std::filesystem::path& folder);

/// The prerequisites of the first rule in a depfile as compilers write them.
std::vector<std::string> depfile_inputs(std::string_view depfile);

/// True if the text contains an assembler `.incbin` or a preprocessor `#embed`, also when it is
/// broken up by quotes, white space or line continuations.
bool embeds_files(std::string_view source);

/// Why a compiled candidate is refused for what it reads, one sentence; nothing if it is fine. Uses
/// the depfile (what was included) and the source text (what an assembler would embed). Weaker than
/// the sandbox: macros can hide an `.incbin` from it.
std::optional<std::string> check_source(const CompileCommand& command, const SandboxRules& rules);

}  // namespace kb
