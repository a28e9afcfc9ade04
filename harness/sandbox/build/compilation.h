// One compilation from the compiler's command to the record: the whole behaviour of kb_cc.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sandbox/build/compile_command.h"
#include "sandbox/build/header_policy.h"
#include "sandbox/build/settings.h"
#include "sandbox/build/symbol_rules.h"

namespace kb {

/// What the command line of kb_cc says. It is part of the build system's command hash, so it holds
/// nothing that may change without recompiling.
struct Options {
  std::string stub;                     ///< object to put in place of one that failed
  std::vector<std::string> cuda_check;  ///< nvcc or clang command that must accept it, too
  std::vector<std::string> link;  ///< command that must make a module of its object; none: any
  std::string root;       ///< folder that paths of messages are shown relative to; empty: none
  std::string cuobjdump;  ///< lists the machine code, for the record; empty: none
  LibraryPolicy library = LibraryPolicy::none;
  std::vector<HeaderFolder> headers;     ///< that the run declares: readable, and recorded
  std::vector<HeaderFolder> undeclared;  ///< that it could declare: including one is a violation
  std::vector<std::string> allow_read;   ///< folders a candidate may include from
  std::vector<std::string> allow_files;  ///< single files it may include
  bool allow_line_directives = false;  ///< a source of our own, which says where its lines are from
};

/// Compiles, audits, records. Returns the exit code for the build system: 0 unless the settings are
/// strict and the candidate failed. Ends the process by the same signal if it is interrupted.
/// Throws std::runtime_error if the machine, not the candidate, is at fault.
int compile_candidate(const Options& options, const CompileCommand& command,
                      const Settings& settings);

}  // namespace kb
