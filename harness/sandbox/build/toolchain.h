// The folders that a compiler needs to read in order to work.
#pragma once

#include "base/landlock.h"
#include "sandbox/build/compile_command.h"

namespace kb {

/// System headers, libraries and programs, and the installation of each program that the command
/// names (a compiler in PREFIX/bin may read PREFIX/{bin,include,lib,...}, but not PREFIX itself).
/// Programs of the build tree, such as cu2cpp, are allowed as single files.
void allow_toolchain(const CompileCommand& command, SandboxRules* rules);

}  // namespace kb
