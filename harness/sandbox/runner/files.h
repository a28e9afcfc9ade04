// The files that a runner may see.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kb::runner {

/// Leaves a process without threads only what the C library, the CUDA driver, fault reports and
/// these libraries (with their folders) need. @return protocol::file_access, or 0 where the kernel
/// has no Landlock
uint32_t hide_files(const std::vector<std::string>& libraries);

/// Takes from the calling thread what only the start of CUDA needs: besides its threads' names,
/// their memory can be written through /proc/self/task, code too. To be called, once CUDA has
/// started, on each thread that runs a candidate's code. @return false if the kernel refuses
bool narrow_files();

}  // namespace kb::runner
