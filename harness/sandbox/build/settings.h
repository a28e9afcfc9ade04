// Limits of a compilation, read from the environment so that changing one rebuilds nothing.
#pragma once

#include <cstdint>
#include <filesystem>

namespace kb {

/// What may be done about a kernel without Landlock.
enum class SandboxMode {
  automatic,  ///< use Landlock if the kernel has it, else check the source text and the depfile
  required,   ///< stop with an error if the kernel has no Landlock
  off,        ///< source text and depfile checks only
};

/// Limits and modes of one run of kb_cc.
struct Settings {
  double timeout_s = 180;              ///< KB_COMPILE_TIMEOUT: all compilers of a kernel together
  uint64_t memory_bytes = 0;           ///< KB_COMPILE_MEMORY: resident, all processes together
  uint64_t output_bytes = 1ull << 30;  ///< KB_COMPILE_OUTPUT: any single file that is written
  bool strict = false;                 ///< KB_STRICT=1: fail the build instead of recording it
  SandboxMode sandbox = SandboxMode::automatic;  ///< KB_COMPILE_SANDBOX: auto, landlock, none
};

/// The default of memory_bytes: the share of one of the compilations that the build runs at once.
/// @param machine_bytes  physical memory
/// @param jobs  KB_COMPILE_JOBS, which CMake writes into the file; else the number of cores
uint64_t memory_share(uint64_t machine_bytes, uint64_t jobs);

/// Reads the environment and, for what it leaves unset, `KEY=value` lines of `config_file` (which
/// need not exist). Bytes may end in K, M or G (powers of 1024).
/// Throws std::runtime_error on a value that is not understood.
Settings read_settings(const std::filesystem::path& config_file);

}  // namespace kb
