// What a cudaIpcMemHandle_t carries on the CPU: a part of an inherited memfd.
#pragma once

#include <cstdint>

namespace kb::cpu {

inline constexpr std::uint32_t ipc_magic = 0x4b424350;

struct IpcHandle {
  std::int32_t fd;
  std::uint32_t magic;        ///< ipc_magic
  std::uint64_t file_offset;  ///< bytes, a multiple of the page size
  std::uint64_t map_bytes;    ///< a multiple of the page size
  std::uint64_t data_offset;  ///< bytes from the start of the mapping
  std::uint64_t data_bytes;
};
static_assert(sizeof(IpcHandle) <= 64);

/// Fault reports call what cudaIpcOpenMemHandle() has mapped at `base` the tensor `name`. The first
/// name stays: a candidate comes too late to give one.
void name_tensor(const void* base, const char* name);

/// Installs the handlers of faults, if that has not been done: once for the process. A thread that
/// calls it gets a stack for them. Whoever forbids to change handlers calls it before.
void watch_faults();

}  // namespace kb::cpu
