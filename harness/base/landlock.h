// Lets a compiler or a candidate see only the files it needs, with the kernel's Landlock.
#pragma once

#include <string>
#include <vector>

namespace kb {

/// What a sandboxed process may touch; everything else looks unreadable. Paths that do not exist
/// are left out.
struct SandboxRules {
  std::vector<std::string> read_directories;   ///< with everything below, also executable
  std::vector<std::string> read_files;         ///< also executable
  std::vector<std::string> write_directories;  ///< read, create, change, remove
  /// Read and write, ioctl on devices; of a directory all files that are there, no new ones.
  std::vector<std::string> write_files;
};

/// True if this kernel offers Landlock.
bool landlock_available();

/// Prepares the rules as a Landlock rule set and returns its descriptor (closed on exec).
/// Throws std::runtime_error if the kernel refuses.
int make_sandbox(const SandboxRules& rules);

/// Confines this process and its future children for good; returns 0 or an errno. Safe after fork.
int enter_sandbox(int ruleset_fd);

/// Where memory runs out, the kernel ends this process and what it starts: not the build or the
/// judge, and nobody else's work. Safe after fork.
void be_killed_first();

}  // namespace kb
