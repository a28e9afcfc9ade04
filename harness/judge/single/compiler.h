// How the build system would compile and link a kernel, had it been configured.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result/files.h"

namespace kb {

/// What a kernel is and where its parts go.
struct Kernel {
  std::string task;                  ///< "level1/019_relu"
  std::string library;               ///< none, cublas or cudnn
  std::vector<std::string> headers;  ///< beyond CUDA's own
  std::filesystem::path source, object, module;
  bool is_trusted = false;  ///< our own: it may say where its lines are from
};

/// Runs a command and returns what it printed. @throws std::runtime_error if it fails
using Ask = std::function<std::string(const std::vector<std::string>&)>;

/// Commands for one kernel. They are those of a target that is configured like a candidate, with
/// the kernel's paths in the place of that target's own.
struct Commands {
  std::vector<std::string> compile, link;
  Json entry;  ///< the target's entry in the manifest of such targets
};

/// Whether this build can compile kernels that declare this.
/// @throws std::runtime_error with the remedy if not
void check_declarations(const std::string& library, const std::vector<std::string>& headers,
                        const std::filesystem::path& build_dir);

/// @param build_dir of the preset; the commands run there
/// @throws std::runtime_error with the remedy if this build has no such target
Commands commands_for(const Kernel& kernel, const std::filesystem::path& build_dir, const Ask& ask);

}  // namespace kb
