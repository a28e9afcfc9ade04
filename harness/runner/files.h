// The files that a runner may see.
#pragma once

#include <cstdint>

namespace kb::runner {

/// Leaves a process without threads only what the C library, the CUDA driver and fault reports
/// need. @return protocol::file_access, or 0 where the kernel has no Landlock
uint32_t hide_files();

}  // namespace kb::runner
